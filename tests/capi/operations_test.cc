// Operations through the C interface, on a real server, with an outbox and without Kafka.
#include <cstring>
#include <fstream>

#include "capi/handle_table.h"
#include "forelock/c.h"
#include "integration/fixture.h"
#include "outbox/outbox.h"
#include "support/shared_server.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr std::int64_t patience_ms = 30'000;

class COperations : public SharedServerTest<> {
 protected:
  void SetUp() override {
    fl_config config = 0;
    ASSERT_EQ(fl_config_new(&config), FL_OK);
    ASSERT_EQ(fl_config_set(config, "zookeeper.servers", server_->connect_string().c_str()), FL_OK);
    ASSERT_EQ(fl_config_set(config, "elastic.request.retry.count", "1"), FL_OK);
    ASSERT_EQ(fl_config_set(config, "dlq.outbox.path", (directory_.path() / "outbox.db").c_str()), FL_OK);
    ASSERT_EQ(fl_client_open(config, 0, &client_), FL_OK);
    ASSERT_EQ(fl_dlq_open(config, &letters_), FL_OK) << fl_last_message();
    ASSERT_EQ(fl_config_free(config), FL_OK);
    ASSERT_EQ(fl_client_wait_connected(client_, patience_ms), FL_OK);
    fl_runner_options options{};
    options.size = sizeof options;
    options.backoff_initial_ms = 1;
    options.backoff_cap_ms = 2;
    ASSERT_EQ(fl_runner_new(client_, letters_, &options, &runner_), FL_OK) << fl_last_message();
  }
  void TearDown() override {
    if (runner_ != 0) {
      EXPECT_EQ(fl_runner_free(runner_), FL_OK);
    }
    EXPECT_EQ(fl_dlq_free(letters_), FL_OK);
    if (client_ != 0) {
      EXPECT_EQ(fl_client_free(client_), FL_OK);
    }
  }

  static fl_operation_spec spec(const char* id, const char* monitor) {
    fl_operation_spec spec{};
    spec.size = sizeof spec;
    spec.id = id;
    spec.type = "saveContent";
    spec.monitor = monitor;
    spec.payload = "\0article";
    spec.payload_length = 8;
    return spec;
  }
  fl_event next(std::int32_t kind) const {
    fl_event event{};
    EXPECT_EQ(fl_poll(client_, patience_ms, &event, 1), 1);
    EXPECT_EQ(event.kind, kind) << event.name << ' ' << event.message;
    return event;
  }
  std::uint64_t letters() const {
    fl_dlq_status status{};
    status.size = sizeof status;
    EXPECT_EQ(fl_dlq_get_status(letters_, &status), FL_OK);
    return status.outbox_rows;
  }

  TemporaryDirectory directory_;
  fl_client client_ = 0;
  fl_dlq letters_ = 0;
  fl_runner runner_ = 0;
};

TEST_F(COperations, APayloadThatIsTooLongIsNotRead) {
  fl_operation_spec save = spec("one", "op-large");
  save.payload_length = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(fl_runner_submit(runner_, &save, 7, nullptr), FL_REQUEST_TOO_LARGE) << fl_last_message();
  EXPECT_STREQ(fl_last_monitor(), "op-large");
  EXPECT_EQ(letters(), 0u);
}

TEST_F(COperations, TimesOfFailedAttemptsAreNoOverflow) {
  const std::int64_t extremes[] = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  for (const std::int64_t at : extremes) {
    for (const std::int64_t waited : extremes) {
      const std::string id = std::to_string(at) + ' ' + std::to_string(waited);
      const fl_operation_spec save = spec(id.c_str(), "op-times");
      const fl_failed_attempt failed{
          .size = sizeof(fl_failed_attempt), .at_ms = at, .code = "busy", .message = "", .waited_ms = waited};
      EXPECT_EQ(fl_dlq_accept(client_, letters_, &save, &failed, 1, 1, nullptr), FL_OK) << fl_last_message();
    }
  }
}

TEST_F(COperations, WhatTheQueueSaysComesToTheClientThatUsesItLast) {
  const std::string path = directory_.path() / "other.db";
  fl_config config = 0;
  ASSERT_EQ(fl_config_new(&config), FL_OK);
  ASSERT_EQ(fl_config_set(config, "zookeeper.servers", server_->connect_string().c_str()), FL_OK);
  ASSERT_EQ(fl_config_set(config, "dlq.outbox.path", path.c_str()), FL_OK);
  const auto damage = [&] {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << std::string(100, 'x');
  };
  const auto listener = [&] {
    fl_client client = 0;
    EXPECT_EQ(fl_client_open(config, FL_CLIENT_LOG_EVENTS, &client), FL_OK);
    return client;
  };
  fl_dlq queue = 0;
  const auto use = [&](fl_client client, const char* id) {
    const fl_operation_spec save = spec(id, "op-log");
    const fl_failed_attempt failed{
        .size = sizeof(fl_failed_attempt), .at_ms = 1000, .code = "busy", .message = "", .waited_ms = 0};
    EXPECT_EQ(fl_dlq_accept(client, queue, &save, &failed, 1, 1, nullptr), FL_OK) << fl_last_message();
  };
  const auto hears_of_damage = [&](fl_client client) {
    fl_event event{};
    while (fl_poll(client, patience_ms, &event, 1) == 1) {
      if (event.kind == FL_EVENT_LOG && strstr(event.message, ".damaged-") != nullptr) return true;
    }
    return false;
  };

  ASSERT_EQ(fl_dlq_open(config, &queue), FL_OK) << fl_last_message();
  use(client_, "1");
  ASSERT_EQ(fl_dlq_free(queue), FL_OK);
  damage();
  ASSERT_EQ(fl_dlq_open(config, &queue), FL_OK) << fl_last_message();
  const fl_client first = listener();
  const fl_client second = listener();
  use(first, "2");
  EXPECT_TRUE(hears_of_damage(first)) << "what it said when it was opened";
  use(second, "3");
  use(client_, "4");
  damage();
  use(client_, "5");
  EXPECT_TRUE(hears_of_damage(second)) << "the first has been passed over, and the last takes no lines";
  EXPECT_EQ(fl_client_close(second), FL_OK);
  damage();
  use(client_, "6");
  EXPECT_TRUE(hears_of_damage(first)) << "it is the last one that is open";
  EXPECT_EQ(fl_client_close(first), FL_OK);
  damage();
  use(client_, "7");
  const fl_client third = listener();
  use(third, "8");
  EXPECT_TRUE(hears_of_damage(third)) << "it waited for the next one";
  for (const fl_client client : {first, second, third}) EXPECT_EQ(fl_client_free(client), FL_OK);
  EXPECT_EQ(fl_dlq_free(queue), FL_OK);
  EXPECT_EQ(fl_config_free(config), FL_OK);
}

TEST_F(COperations, AnAttemptHoldsTheLockUntilItEnds) {
  fl_operation operation = 0;
  const fl_operation_spec save = spec("one", "op-1");
  ASSERT_EQ(fl_runner_submit(runner_, &save, 7, &operation), FL_OK) << fl_last_message();
  const fl_event begun = next(FL_EVENT_ATTEMPT);
  const fl_attempt attempt = begun.source;
  EXPECT_EQ(begun.tag, 7u);
  EXPECT_EQ(begun.value, 1);
  EXPECT_STREQ(begun.monitor, "op-1");
  EXPECT_EQ(fl_lock_is_healthy(attempt), 1);
  EXPECT_EQ(fl_lock_check_health(attempt), FL_OK);
  EXPECT_GT(fl_lock_token(attempt), 0);
  EXPECT_EQ(fl_lock_alive(attempt, 1000), FL_OK);
  EXPECT_EQ(fl_lock_release(attempt), FL_INVALID_HANDLE) << "the runner releases it";
  const fl_write write{FL_WRITE_CREATE, -1, "/operation", "x", 1};
  EXPECT_EQ(fl_lock_write_guarded(attempt, &write, 1, nullptr), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_OK);
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_INVALID_HANDLE);
  EXPECT_EQ(fl_lock_is_healthy(attempt), 0);
  const fl_event end = next(FL_EVENT_OPERATION);
  EXPECT_EQ(end.code, FL_OK);
  EXPECT_EQ(end.value, FL_SUCCEEDED);
  EXPECT_EQ(end.tag, 7u);
  EXPECT_STREQ(end.hint, "one");
  EXPECT_EQ(letters(), 0u);
  EXPECT_EQ(fl_operation_free(operation), FL_OK);
  EXPECT_EQ(fl_operation_cancel(operation), FL_INVALID_HANDLE);
}

TEST_F(COperations, WhatFailsIsTriedAgainAndBecomesADeadLetter) {
  const fl_operation_spec save = spec("two", "op-2");
  ASSERT_EQ(fl_runner_submit(runner_, &save, 8, nullptr), FL_OK);
  for (int number = 1; number <= 2; ++number) {
    const fl_event begun = next(FL_EVENT_ATTEMPT);
    EXPECT_EQ(begun.value, number);
    EXPECT_EQ(fl_attempt_fail(begun.source, nullptr, nullptr, 1), FL_INVALID_ARGUMENT);
    EXPECT_EQ(fl_attempt_fail(begun.source, "cluster_red", "the cluster is red", 1), FL_OK);
    const fl_event failed = next(FL_EVENT_FAILURE);
    EXPECT_STREQ(failed.name, "cluster_red");
    EXPECT_STREQ(failed.message, "the cluster is red");
    EXPECT_EQ(failed.value, number == 1 ? 1 : 0);
  }
  const fl_event end = next(FL_EVENT_OPERATION);
  EXPECT_EQ(end.code, FL_OK);
  EXPECT_EQ(end.value, FL_DEAD_LETTERED);
  EXPECT_STREQ(end.name, "cluster_red");
  EXPECT_EQ(letters(), 1u);
}

TEST_F(COperations, AnAttemptHearsThatItsLockIsLost) {
  const fl_operation_spec save = spec("three", "op-3");
  ASSERT_EQ(fl_runner_submit(runner_, &save, 9, nullptr), FL_OK);
  const fl_event begun = next(FL_EVENT_ATTEMPT);
  const fl_attempt attempt = begun.source;
  ASSERT_EQ(fl_lock_watch(attempt, FL_ON_LOST, 0, 10), FL_OK) << fl_last_message();
  fl_view view = 0;
  ASSERT_EQ(fl_inspect_show(client_, "op-3", patience_ms, &view), FL_OK);
  fl_monitor monitor{};
  monitor.size = sizeof monitor;
  ASSERT_EQ(fl_view_monitor(view, 0, &monitor), FL_OK);
  std::int32_t result = -1;
  ASSERT_EQ(fl_inspect_force_release(client_, "op-3", monitor.holder_node, patience_ms, &result), FL_OK);
  EXPECT_EQ(result, FL_FORCE_RELEASED);
  EXPECT_EQ(fl_view_free(view), FL_OK);
  const fl_event lost = next(FL_EVENT_LOST);
  EXPECT_EQ(lost.tag, 10u);
  EXPECT_EQ(lost.source, attempt);
  EXPECT_EQ(lost.value, FL_LOSS_REMOVED);
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_OK);
  EXPECT_STREQ(next(FL_EVENT_FAILURE).name, "lock_unhealthy");
  EXPECT_EQ(fl_attempt_succeed(next(FL_EVENT_ATTEMPT).source), FL_OK);
  EXPECT_EQ(next(FL_EVENT_OPERATION).value, FL_SUCCEEDED);
}

TEST_F(COperations, OneThatIsCancelledStaysWithItsCaller) {
  fl_lock busy = 0;
  ASSERT_EQ(fl_lock_new(client_, "busy", "op-4", FL_FOREGROUND, nullptr, &busy), FL_OK);
  ASSERT_EQ(fl_lock_acquire(busy, FL_CONFIGURED), FL_OK);
  fl_operation operation = 0;
  const fl_operation_spec save = spec("four", "op-4");
  ASSERT_EQ(fl_runner_submit(runner_, &save, 11, &operation), FL_OK);
  EXPECT_EQ(fl_operation_cancel(operation), FL_OK);
  EXPECT_EQ(next(FL_EVENT_OPERATION).code, FL_CANCELLED);
  EXPECT_EQ(fl_operation_free(operation), FL_OK);
  EXPECT_EQ(letters(), 0u);
  EXPECT_EQ(fl_lock_free(busy), FL_OK);
}

TEST_F(COperations, ARunnerThatIsFreedEndsItsAttempts) {
  const fl_operation_spec save = spec("five", "op-5");
  ASSERT_EQ(fl_runner_submit(runner_, &save, 12, nullptr), FL_OK);
  const fl_attempt attempt = next(FL_EVENT_ATTEMPT).source;
  EXPECT_EQ(fl_runner_free(runner_), FL_OK);
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_INVALID_HANDLE);
  EXPECT_EQ(fl_runner_submit(runner_, &save, 13, nullptr), FL_INVALID_HANDLE);
  runner_ = 0;
  EXPECT_EQ(next(FL_EVENT_FAILURE).tag, 12u);
  const fl_event end = next(FL_EVENT_OPERATION);
  EXPECT_EQ(end.tag, 12u);
  EXPECT_EQ(end.code, FL_CANCELLED) << "it stays with its caller: its work may still succeed";
  EXPECT_EQ(letters(), 0u);
}

TEST_F(COperations, AnOperationThatEndsAfterItsClientIsFetched) {
  const fl_operation_spec save = spec("five", "op-5");
  ASSERT_EQ(fl_runner_submit(runner_, &save, 13, nullptr), FL_OK);
  const fl_attempt attempt = next(FL_EVENT_ATTEMPT).source;
  ASSERT_EQ(fl_client_close(client_), FL_OK);
  fl_event event{};
  EXPECT_EQ(fl_poll(client_, 0, &event, 1), 0) << "its end is awaited";
  EXPECT_EQ(fl_attempt_fail(attempt, "cluster_red", "the cluster is red", 0), FL_OK);
  EXPECT_STREQ(next(FL_EVENT_FAILURE).name, "cluster_red");
  const fl_event end = next(FL_EVENT_OPERATION);
  EXPECT_EQ(end.tag, 13u);
  EXPECT_EQ(end.value, FL_DEAD_LETTERED);
  EXPECT_EQ(fl_poll(client_, -1, &event, 1), -FL_CLOSED);
}

TEST_F(COperations, AnAttemptThatNobodyFetchesEndsWithItsClient) {
  const capi::HandleTable& table = capi::HandleTable::instance();
  const std::size_t before = table.size();
  const fl_operation_spec save = spec("six", "op-6");
  ASSERT_EQ(fl_runner_submit(runner_, &save, 14, nullptr), FL_OK);
  ASSERT_TRUE(wait_until([&] { return table.size() == before + 1; })) << "the attempt";
  EXPECT_EQ(fl_client_free(client_), FL_OK);
  EXPECT_TRUE(wait_until([&] { return table.size() == before - 1; })) << "without the attempt and the client";
  EXPECT_TRUE(wait_until_unused(*server_, "op-6"));
  client_ = 0;
}

// The programs' structures may be those of older or newer headers.
TEST_F(COperations, StructuresOfOtherVersionsAreRead) {
  struct Newer {
    fl_failed_attempt known;
    std::int64_t unknown;
  } attempts[] = {{{.size = sizeof(Newer), .at_ms = 1000, .code = "first", .message = "one", .waited_ms = 10}, -1},
                  {{.size = sizeof(Newer), .at_ms = 2000, .code = "second", .message = "two", .waited_ms = 20}, -1}};
  const fl_operation_spec save = spec("one", "op-newer");
  ASSERT_EQ(fl_dlq_accept(client_, letters_, &save, &attempts[0].known, 2, 2, nullptr), FL_OK) << fl_last_message();

  struct Older {
    std::size_t size;
    std::int64_t at_ms;
    const char* code;
  } shorter[] = {{sizeof(Older), 1000, "third"}, {sizeof(Older), 2000, "fourth"}};
  fl_operation_spec older = spec("two", "op-older");
  older.size = offsetof(fl_operation_spec, lock_info);
  older.lock_info = reinterpret_cast<const char*>(1);  // beyond what that version knows
  ASSERT_EQ(
      fl_dlq_accept(client_, letters_, &older, reinterpret_cast<const fl_failed_attempt*>(shorter), 2, 2, nullptr),
      FL_OK)
      << fl_last_message();

  const outbox::Outbox outbox({.path = directory_.path() / "outbox.db", .read_only = true});
  const std::vector<outbox::Row> rows = outbox.read(0, 3, 1 << 20);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].record, testing::ContainsRegex("first.*one.*second.*two"));
  EXPECT_THAT(rows[1].record, testing::ContainsRegex("third.*fourth"));
}

// Whatever the program says: a reader of the letter would see more attempts than there may be.
TEST_F(COperations, NoLetterHasMoreAttemptsThanItsMost) {
  const fl_operation_spec save = spec("one", "op-most");
  const fl_failed_attempt busy{
      .size = sizeof(fl_failed_attempt), .at_ms = 1000, .code = "busy", .message = "", .waited_ms = 0};
  const fl_failed_attempt failed[] = {busy, busy};
  ASSERT_EQ(fl_dlq_accept(client_, letters_, &save, failed, 2, 1, nullptr), FL_OK) << fl_last_message();
  const outbox::Outbox outbox({.path = directory_.path() / "outbox.db", .read_only = true});
  const std::vector<outbox::Row> rows = outbox.read(0, 1, 1 << 20);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].record, testing::HasSubstr(R"("max_attempts":2,)"));
}

TEST_F(COperations, WhatIsInvalidIsRefusedAtOnce) {
  fl_operation_spec bad = spec("six", "op-6");
  bad.size = 0;
  EXPECT_EQ(fl_runner_submit(runner_, &bad, 1, nullptr), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_runner_submit(runner_, nullptr, 1, nullptr), FL_INVALID_ARGUMENT);
  for (auto change : std::vector<void (*)(fl_operation_spec&)>{
           [](fl_operation_spec& of) { of.type = nullptr; }, [](fl_operation_spec& of) { of.type = ""; },
           [](fl_operation_spec& of) { of.monitor = nullptr; }, [](fl_operation_spec& of) { of.monitor = ""; },
           [](fl_operation_spec& of) { of.payload = nullptr; }, [](fl_operation_spec& of) { of.priority = 5; },
           [](fl_operation_spec& of) { of.timeout_ms = -1; }, [](fl_operation_spec& of) { of.id = "\x01"; }}) {
    bad = spec("six", "op-6");
    change(bad);
    const std::size_t handles = capi::HandleTable::instance().size();
    fl_operation none = 0;
    EXPECT_EQ(fl_runner_submit(runner_, &bad, 1, &none), FL_INVALID_ARGUMENT);
    EXPECT_EQ(none, 0u);
    EXPECT_EQ(capi::HandleTable::instance().size(), handles);
  }
  fl_runner runner = 0;
  fl_runner_options options{};
  options.size = sizeof options;
  options.retry_burst = UINT64_MAX;
  EXPECT_EQ(fl_runner_new(client_, letters_, &options, &runner), FL_INVALID_ARGUMENT);
  options.retry_burst = 5;
  options.retries_per_second = -1;
  EXPECT_EQ(fl_runner_new(client_, letters_, &options, &runner), FL_INVALID_ARGUMENT);
  options.retries_per_second = 1000;
  EXPECT_EQ(fl_runner_new(client_, letters_, &options, &runner), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_runner_free(runner), FL_OK);
}

}  // namespace
}  // namespace forelock::test
