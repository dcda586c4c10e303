// What the C interface does with arguments that are invalid; needs no server.
#include "capi/handle_table.h"
#include "forelock/c.h"
#include "forelock/version.h"
#include "support/test.h"

namespace {

constexpr fl_handle made_up[] = {0, 1, ~fl_handle{0}, fl_handle{3} << 56 | fl_handle{1} << 24};

TEST(CArguments, AHandleThatStandsForNothingIsInvalidEverywhere) {
  for (const fl_handle handle : made_up) {
    const char* text = nullptr;
    std::int32_t number = 0;
    std::int64_t time = 0;
    fl_handle out = 0;
    fl_event event;
    EXPECT_EQ(fl_config_free(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_config_set(handle, "a", "b"), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_config_get(handle, "a", &text), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_client_close(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_client_free(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_poll(handle, 0, &event, 1), -FL_INVALID_HANDLE);
    EXPECT_EQ(fl_client_get_fd(handle, &number), FL_INVALID_HANDLE);
    fl_times times{};
    times.size = sizeof times;
    EXPECT_EQ(fl_client_get_times(handle, FL_FOREGROUND, &times), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_new(handle, "a", "b", 0, nullptr, &out), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_acquire(handle, 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_release(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_cancel(handle, nullptr), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_set_priority(handle, FL_FOREGROUND, nullptr), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_set_priority(handle, FL_FOREGROUND, nullptr), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_cancel_async(handle, 0, nullptr), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_cancel_async(handle, 0, nullptr), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_free(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_is_healthy(handle), 0);
    EXPECT_EQ(fl_lock_check_health(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_token(handle), 0);
    EXPECT_EQ(fl_lock_expires_at_ns(handle), 0);
    EXPECT_EQ(fl_lock_time_left_ns(handle), 0);
    EXPECT_EQ(fl_lock_get_state(handle, &number), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_lock_get_linger(handle, &time), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_new(handle, "a", nullptr, 0, 0, nullptr, &out), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_acquire(handle, 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_try(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_try_async(handle, 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_acquire_async(handle, 0, 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_acquire_within(handle, 0, 0, 0, &number), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_try_within(handle, 0, 0, &number), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_watch_danger(handle, 1, 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_waits_for(handle, &text), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_alive(handle, 1), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_write_guarded(handle, nullptr, 0, nullptr), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_cancel(handle, nullptr), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_release(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_release_async(handle, 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_release_detached(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_step_aside(handle, 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_free(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_watch(handle, FL_ON_LOST, 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_is_healthy(handle), 0);
    EXPECT_EQ(fl_set_check_health(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_expires_at_ns(handle), 0);
    EXPECT_EQ(fl_set_get_state(handle, &number), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_size(handle), 0u);
    EXPECT_EQ(fl_lock_held_header(handle, &text), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_set_member(handle, 0, &text, nullptr), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_view_free(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_runner_free(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_operation_cancel(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_attempt_succeed(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_attempt_fail(handle, "code", "", 0), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_dlq_free(handle), FL_INVALID_HANDLE);
    EXPECT_EQ(fl_dlq_accept(handle, handle, nullptr, nullptr, 0, 1, &text), FL_INVALID_HANDLE);
  }
}

TEST(CArguments, SettingsAreReadSetAndRefused) {
  fl_config config = 0;
  const std::size_t handles = forelock::capi::HandleTable::instance().size();
  EXPECT_EQ(fl_config_new(nullptr), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_config_parse("", 0, "memory", nullptr), FL_INVALID_ARGUMENT);
  EXPECT_EQ(forelock::capi::HandleTable::instance().size(), handles) << "nobody could free them";
  const std::string text = "zookeeper.session.timeout=7000\nhost.application.key=1\n";
  ASSERT_EQ(fl_config_parse(text.data(), text.size(), "memory", &config), FL_OK);
  const char* value = nullptr;
  ASSERT_EQ(fl_config_get(config, "zookeeper.session.timeout", &value), FL_OK);
  EXPECT_STREQ(value, "7000");
  EXPECT_EQ(fl_config_set(config, "zookeeper.sesion.timeout", "1"), FL_CONFIGURATION);
  EXPECT_EQ(fl_last_code(), FL_CONFIGURATION);
  EXPECT_NE(std::strstr(fl_last_message(), "zookeeper.session.timeout"), nullptr) << fl_last_message();
  EXPECT_EQ(fl_config_set(config, nullptr, "1"), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_config_get(config, "nothing", &value), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_config_load("/does/not/exist.properties", &config), FL_CONFIGURATION);
  EXPECT_EQ(fl_config_free(config), FL_OK);
  EXPECT_EQ(fl_config_free(config), FL_INVALID_HANDLE);
}

TEST(CArguments, LocksAreRefusedBeforeTheyExist) {
  fl_client client = 0;
  ASSERT_EQ(fl_client_open(0, 0, &client), FL_OK);
  EXPECT_EQ(fl_client_open(0, 0x80, &client), FL_INVALID_ARGUMENT);
  fl_lock lock = 0;
  EXPECT_EQ(fl_lock_new(client, nullptr, "m", 0, nullptr, &lock), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_lock_new(client, "i", "", 0, nullptr, &lock), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_lock_new(client, "i", "m", 2, nullptr, &lock), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_lock_new(client, "i", "m", 0, nullptr, nullptr), FL_INVALID_ARGUMENT);
  fl_lock_options options{};
  EXPECT_EQ(fl_lock_new(client, "i", "m", 0, &options, &lock), FL_INVALID_ARGUMENT) << "its size is not set";
  options.size = sizeof options;
  options.flags = FL_LOCK_KEEP_MONITOR << 1;
  EXPECT_EQ(fl_lock_new(client, "i", "m", 0, &options, &lock), FL_INVALID_ARGUMENT);
  options.size = offsetof(fl_lock_options, flags);
  ASSERT_EQ(fl_lock_new(client, "i", "m", 0, &options, &lock), FL_OK) << "an older program's: there are no flags";
  EXPECT_EQ(fl_lock_acquire(lock, -3), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_client_close(lock), FL_INVALID_HANDLE) << "of another kind";
  EXPECT_EQ(fl_lock_free(client), FL_INVALID_HANDLE) << "of another kind";
  EXPECT_EQ(fl_lock_watch(lock, 64, 0, 0), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_lock_watch(lock, FL_ON_DANGER, 0, 0), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_poll(client, 0, nullptr, 1), -FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST(CArguments, AnOlderProgramGetsTheStructureItKnows) {
  fl_client client = 0;
  ASSERT_EQ(fl_client_open(0, 0, &client), FL_OK);
  struct {
    fl_client_status status;
  } both;
  std::memset(&both, 0x55, sizeof both);
  both.status.size = offsetof(fl_client_status, granted);
  ASSERT_EQ(fl_client_get_status(client, &both.status), FL_OK);
  EXPECT_EQ(both.status.session_id, 0);
  EXPECT_EQ(both.status.granted, 0x5555555555555555u) << "beyond what the caller knows";
  both.status.size += 4;
  EXPECT_EQ(fl_client_get_status(client, &both.status), FL_INVALID_ARGUMENT) << "none ends within a member";
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST(CArguments, TimesAreOfAClassThatThereIs) {
  fl_client client = 0;
  ASSERT_EQ(fl_client_open(0, 0, &client), FL_OK);
  fl_times times{};
  times.size = sizeof times;
  times.waits[3] = 7;
  EXPECT_EQ(fl_client_get_times(client, 2, &times), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_client_get_times(client, FL_BACKGROUND, nullptr), FL_INVALID_ARGUMENT);
  times.size = 4;
  EXPECT_EQ(fl_client_get_times(client, FL_BACKGROUND, &times), FL_INVALID_ARGUMENT);
  times.size = sizeof times;
  ASSERT_EQ(fl_client_get_times(client, FL_BACKGROUND, &times), FL_OK);
  EXPECT_EQ(times.waits[3], 0u);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST(CArguments, OfANewerProgramsStructureTheKnownPartIsUsed) {
  fl_client client = 0;
  ASSERT_EQ(fl_client_open(0, 0, &client), FL_OK);
  struct {
    fl_client_status known;
    std::int64_t unknown[2];
  } newer;
  std::memset(&newer, 0x55, sizeof newer);
  newer.known.size = sizeof newer;
  ASSERT_EQ(fl_client_get_status(client, &newer.known), FL_OK);
  EXPECT_EQ(newer.known.size, sizeof newer);
  EXPECT_EQ(newer.known.lingering, 0u);
  EXPECT_EQ(newer.unknown[0], 0x5555555555555555) << "this library does not know it";
  struct {
    fl_lock_options known;
    std::int64_t unknown;
  } options{};
  options.known.size = sizeof options;
  options.unknown = -1;
  fl_lock lock = 0;
  EXPECT_EQ(fl_lock_new(client, "i", "m", 0, &options.known, &lock), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST(CArguments, TheVersionIsThatOfTheLibrary) {
  EXPECT_EQ(fl_version(), forelock::version());
  EXPECT_EQ(fl_abi_version(), FL_ABI_VERSION);
  for (std::int32_t headers = 1; headers <= FL_ABI_VERSION; ++headers) EXPECT_EQ(fl_check_abi(headers), FL_OK);
  EXPECT_EQ(fl_check_abi(FL_ABI_VERSION + 1), FL_ABI_MISMATCH);
  EXPECT_EQ(fl_last_code(), FL_ABI_MISMATCH);
  EXPECT_NE(std::string(fl_last_message()).find(std::to_string(FL_ABI_VERSION + 1)), std::string::npos);
  EXPECT_EQ(fl_check_abi(0), FL_ABI_MISMATCH);
  EXPECT_STREQ(fl_code_name(FL_LOCK_TIMEOUT), "lock_timeout");
  EXPECT_STREQ(fl_code_name(FL_RECORD_TOO_NEW), "record_too_new");
  EXPECT_STREQ(fl_code_name(28), "unknown");
  EXPECT_STREQ(fl_code_name(FL_LOCK_REFUSED), "lock_refused");
  EXPECT_STREQ(fl_code_name(28), "unknown");  // of earlier builds, and not used again
  EXPECT_STREQ(fl_code_name(FL_INVALID_HANDLE), "invalid_handle");
  EXPECT_STREQ(fl_code_name(-5), "unknown");
  EXPECT_EQ(fl_is_retryable(FL_OK), 0);
}

}  // namespace
