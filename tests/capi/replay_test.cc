// Replays of dead letters through the C interface, on a real server, with an outbox and without Kafka.
#include "capi/handle_table.h"
#include "forelock/c.h"
#include "integration/fixture.h"
#include "support/shared_server.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr std::int64_t longest_ms = 30'000;

class CReplay : public SharedServerTest<> {
 protected:
  void SetUp() override {
    fl_config config = 0;
    ASSERT_EQ(fl_config_new(&config), FL_OK);
    const std::string servers = server_->connect_string() + "/c-replay-" + std::to_string(++namespaces_);
    ASSERT_EQ(fl_config_set(config, "zookeeper.servers", servers.c_str()), FL_OK);
    ASSERT_EQ(fl_config_set(config, "zookeeper.session.timeout", "2000"), FL_OK);
    ASSERT_EQ(fl_config_set(config, "dlq.outbox.path", (directory_.path() / "outbox.db").c_str()), FL_OK);
    ASSERT_EQ(fl_client_open(config, 0, &client_), FL_OK);
    ASSERT_EQ(fl_dlq_open(config, &letters_), FL_OK) << fl_last_message();
    ASSERT_EQ(fl_config_free(config), FL_OK);
    ASSERT_EQ(fl_client_wait_connected(client_, longest_ms), FL_OK);
  }
  void TearDown() override {
    if (replay_ != 0) {
      EXPECT_EQ(fl_replay_free(replay_), FL_OK);
    }
    EXPECT_EQ(fl_dlq_free(letters_), FL_OK);
    if (client_ != 0) {
      EXPECT_EQ(fl_client_free(client_), FL_OK);
    }
  }

  void add(const char* id, const char* monitor, const char* type = "saveContent") {
    fl_operation_spec spec{};
    spec.size = sizeof spec;
    spec.id = id;
    spec.type = type;
    spec.monitor = monitor;
    spec.priority = FL_FOREGROUND;
    spec.payload = "\0article";
    spec.payload_length = 8;
    spec.lock_info = "Save Content";
    const fl_failed_attempt failed[] = {
        {.size = sizeof(fl_failed_attempt), .at_ms = 1000, .code = "busy", .message = "one", .waited_ms = 10},
        {.size = sizeof(fl_failed_attempt), .at_ms = 2000, .code = "red", .message = "two", .waited_ms = 20}};
    ASSERT_EQ(fl_dlq_accept(client_, letters_, &spec, failed, 2, 4, nullptr), FL_OK) << fl_last_message();
  }
  void begin(const fl_replay_options* options = nullptr) {
    ASSERT_EQ(fl_dlq_replay(client_, letters_, options, 5, &replay_), FL_OK) << fl_last_message();
  }
  static fl_replay_options options() {
    fl_replay_options options{};
    options.size = sizeof options;
    return options;
  }
  fl_event next(std::int32_t kind) const {
    fl_event event{};
    EXPECT_EQ(fl_poll(client_, longest_ms, &event, 1), 1);
    EXPECT_EQ(event.kind, kind) << event.name << ' ' << event.message;
    return event;
  }
  fl_replay_report report() const {
    fl_replay_report report{};
    report.size = sizeof report;
    EXPECT_EQ(fl_replay_get_report(replay_, &report), FL_OK) << fl_last_message();
    return report;
  }
  fl_unresolved_letter unresolved(std::size_t index) const {
    fl_unresolved_letter letter{};
    letter.size = sizeof letter;
    EXPECT_EQ(fl_replay_unresolved(replay_, index, &letter), FL_OK) << fl_last_message();
    return letter;
  }
  std::uint64_t letters() const {
    fl_dlq_status status{};
    status.size = sizeof status;
    EXPECT_EQ(fl_dlq_get_status(letters_, &status), FL_OK);
    return status.outbox_rows;
  }
  void take_away(const char* monitor) const {
    fl_view view = 0;
    ASSERT_EQ(fl_inspect_show(client_, monitor, longest_ms, &view), FL_OK);
    fl_monitor seen{};
    seen.size = sizeof seen;
    ASSERT_EQ(fl_view_monitor(view, 0, &seen), FL_OK);
    std::int32_t result = -1;
    ASSERT_EQ(fl_inspect_force_release(client_, monitor, seen.holder_node, longest_ms, &result), FL_OK);
    EXPECT_EQ(result, FL_FORCE_RELEASED);
    EXPECT_EQ(fl_view_free(view), FL_OK);
  }

  static inline int namespaces_ = 0;
  TemporaryDirectory directory_;
  fl_client client_ = 0;
  fl_dlq letters_ = 0;
  fl_replay replay_ = 0;
};

TEST_F(CReplay, ALetterIsWorkedOnUnderItsLock) {
  add("one", "A");
  begin();
  fl_replay_report early{};
  early.size = sizeof early;
  EXPECT_EQ(fl_replay_get_report(replay_, &early), FL_INVALID_ARGUMENT) << "it goes on";
  const fl_event begun = next(FL_EVENT_LETTER);
  EXPECT_EQ(begun.tag, 5u);
  EXPECT_EQ(begun.value, 0);
  EXPECT_STREQ(begun.monitor, "A");
  fl_letter letter{};
  letter.size = sizeof letter;
  ASSERT_EQ(fl_attempt_letter(begun.source, &letter), FL_OK) << fl_last_message();
  EXPECT_STREQ(letter.id, "one");
  EXPECT_STREQ(letter.type, "saveContent");
  EXPECT_STREQ(letter.monitor, "A");
  EXPECT_EQ(letter.priority, FL_FOREGROUND);
  EXPECT_EQ(letter.tries, 0u);
  EXPECT_STREQ(letter.lock_info, "Save Content");
  EXPECT_EQ(std::string(static_cast<const char*>(letter.payload), letter.payload_length), std::string("\0article", 8));
  EXPECT_STREQ(letter.reason, "red");
  EXPECT_EQ(letter.failure_count, 2u);
  EXPECT_EQ(letter.max_attempts, 4u);
  EXPECT_EQ(letter.failed_at_ms, 2000);
  EXPECT_EQ(letter.enqueued_at_ms, 990);
  EXPECT_STRNE(letter.instance, "");
  fl_failed_attempt failure{};
  failure.size = sizeof failure;
  ASSERT_EQ(fl_attempt_failure(begun.source, 1, &failure), FL_OK);
  EXPECT_STREQ(failure.code, "red");
  EXPECT_STREQ(failure.message, "two");
  EXPECT_EQ(fl_attempt_failure(begun.source, 2, &failure), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_lock_is_healthy(begun.source), 1);
  EXPECT_GT(fl_lock_token(begun.source), 0);
  EXPECT_EQ(fl_attempt_should_stop(begun.source), 0);
  EXPECT_EQ(fl_attempt_succeed(begun.source), FL_OK);
  EXPECT_EQ(fl_attempt_letter(begun.source, &letter), FL_INVALID_HANDLE);
  EXPECT_EQ(fl_attempt_should_stop(begun.source), 1);
  const fl_event end = next(FL_EVENT_REPLAY);
  EXPECT_EQ(end.source, replay_);
  EXPECT_EQ(end.tag, 5u);
  EXPECT_EQ(end.code, FL_OK);
  EXPECT_EQ(end.value, 1);
  EXPECT_EQ(report().replayed, 1u);
  EXPECT_EQ(report().unresolved, 0u);
  EXPECT_EQ(letters(), 0u);
}

TEST_F(CReplay, WhatIsNotDoneIsListed) {
  add("one", "A");
  add("two", "A");
  add("three", "B", "other");
  fl_replay_preview preview{};
  preview.size = sizeof preview;
  ASSERT_EQ(fl_dlq_preview_replay(letters_, nullptr, &preview), FL_OK) << fl_last_message();
  EXPECT_EQ(preview.letters, 3u);
  EXPECT_EQ(preview.oldest_ms, 2000);
  fl_replay_options of_type = options();
  const char* const types[] = {"saveContent"};
  of_type.types = types;
  of_type.type_count = 1;
  of_type.max_tries = 1;
  ASSERT_EQ(fl_dlq_preview_replay(letters_, &of_type, &preview), FL_OK);
  EXPECT_EQ(preview.letters, 2u);
  begin(&of_type);
  EXPECT_EQ(fl_attempt_fail(next(FL_EVENT_LETTER).source, "bad_row", "row 7 is broken", 0), FL_OK);
  EXPECT_EQ(fl_attempt_fail(next(FL_EVENT_LETTER).source, "busy", "the index is rebuilt", 1), FL_OK);
  next(FL_EVENT_REPLAY);
  const fl_replay_report ended = report();
  EXPECT_EQ(ended.parked, 1u);
  EXPECT_EQ(ended.later, 1u);
  EXPECT_EQ(ended.stopped, 0);
  EXPECT_STREQ(ended.unsettled, "");
  ASSERT_EQ(ended.unresolved, 2u);
  const fl_unresolved_letter first = unresolved(0);
  EXPECT_STREQ(first.id, "one");
  EXPECT_STREQ(first.monitor, "A");
  EXPECT_EQ(first.outcome, FL_REPLAY_PARKED);
  EXPECT_STREQ(first.why, "bad_row: row 7 is broken");
  EXPECT_EQ(unresolved(1).outcome, FL_REPLAY_LATER);
  fl_unresolved_letter none{};
  none.size = sizeof none;
  EXPECT_EQ(fl_replay_unresolved(replay_, 2, &none), FL_INVALID_ARGUMENT);
  EXPECT_EQ(letters(), 3u);
}

TEST_F(CReplay, ALostLockIsToldAndTheLetterStays) {
  add("one", "A");
  begin();
  const fl_attempt attempt = next(FL_EVENT_LETTER).source;
  take_away("A");
  EXPECT_TRUE(wait_until([&] { return fl_attempt_should_stop(attempt) == 1; }));
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_OK);
  next(FL_EVENT_REPLAY);
  EXPECT_EQ(report().replayed, 0u);
  EXPECT_EQ(report().later, 1u);
  EXPECT_THAT(unresolved(0).why, HasSubstr("was lost"));
  EXPECT_EQ(letters(), 1u);
}

TEST_F(CReplay, ItCanBeStopped) {
  add("one", "A");
  add("two", "A");
  begin();
  const fl_attempt attempt = next(FL_EVENT_LETTER).source;
  EXPECT_EQ(fl_replay_stop(replay_), FL_OK);
  EXPECT_EQ(fl_attempt_should_stop(attempt), 1);
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_OK);
  EXPECT_EQ(next(FL_EVENT_REPLAY).value, 1) << "what was under way is done";
  EXPECT_EQ(report().stopped, 1);
  EXPECT_EQ(letters(), 1u);
}

TEST_F(CReplay, OneThatIsFreedEndsItsLetters) {
  add("one", "A");
  begin();
  const fl_attempt attempt = next(FL_EVENT_LETTER).source;
  EXPECT_EQ(fl_replay_free(replay_), FL_OK);
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_INVALID_HANDLE);
  EXPECT_EQ(fl_replay_stop(replay_), FL_INVALID_HANDLE);
  replay_ = 0;
  EXPECT_EQ(next(FL_EVENT_REPLAY).value, 0);
  EXPECT_EQ(letters(), 1u);
  begin();
  EXPECT_EQ(next(FL_EVENT_LETTER).value, 0) << "it was not counted";
}

TEST_F(CReplay, ALetterThatNobodyFetchesEndsWithItsClient) {
  add("one", "A");
  const capi::HandleTable& table = capi::HandleTable::instance();
  begin();
  const std::size_t before = table.size();
  ASSERT_TRUE(wait_until([&] { return table.size() == before + 1; })) << "the attempt";
  EXPECT_EQ(fl_client_free(client_), FL_OK);
  client_ = 0;
  EXPECT_TRUE(wait_until([&] { return table.size() == before - 1; })) << "without the attempt and the client";
  EXPECT_EQ(letters(), 1u);
}

TEST_F(CReplay, AClosedClientEndsIt) {
  add("one", "A");
  begin();
  const fl_attempt attempt = next(FL_EVENT_LETTER).source;
  EXPECT_EQ(fl_client_close(client_), FL_OK);
  EXPECT_EQ(fl_attempt_should_stop(attempt), 1);
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_OK);
  EXPECT_EQ(next(FL_EVENT_REPLAY).value, 0);
  fl_replay second = 0;
  EXPECT_EQ(fl_dlq_replay(client_, letters_, nullptr, 6, &second), FL_CLOSED);
  EXPECT_EQ(second, 0u);
  EXPECT_EQ(letters(), 1u);
}

TEST_F(CReplay, AnotherOneAtWorkIsNamed) {
  add("one", "A");
  begin();
  const fl_attempt attempt = next(FL_EVENT_LETTER).source;
  const fl_replay first = replay_;
  begin();
  const fl_event refused = next(FL_EVENT_REPLAY);
  EXPECT_EQ(refused.source, replay_);
  EXPECT_EQ(refused.code, FL_LOCK_TIMEOUT);
  EXPECT_THAT(refused.message, HasSubstr("another process drains the outbox"));
  EXPECT_THAT(refused.message, HasSubstr("dead letters: replay of outbox"));
  fl_replay_report none{};
  none.size = sizeof none;
  EXPECT_EQ(fl_replay_get_report(replay_, &none), FL_LOCK_TIMEOUT);
  EXPECT_EQ(fl_attempt_succeed(attempt), FL_OK);
  EXPECT_EQ(next(FL_EVENT_REPLAY).source, first);
  EXPECT_EQ(fl_replay_free(first), FL_OK);
}

TEST_F(CReplay, WhatIsInvalidIsRefused) {
  EXPECT_EQ(fl_dlq_replay(client_, client_, nullptr, 1, &replay_), FL_INVALID_HANDLE);
  EXPECT_EQ(fl_dlq_replay(client_, letters_, nullptr, 1, nullptr), FL_INVALID_ARGUMENT);
  fl_replay_options bad = options();
  bad.size = 0;
  EXPECT_EQ(fl_dlq_replay(client_, letters_, &bad, 1, &replay_), FL_INVALID_ARGUMENT);
  const char* const texts[] = {nullptr};
  bad = options();
  bad.ids = texts;
  bad.id_count = 1;
  EXPECT_EQ(fl_dlq_replay(client_, letters_, &bad, 1, &replay_), FL_INVALID_ARGUMENT);
  bad = options();
  bad.rate = -1;
  begin(&bad);
  EXPECT_EQ(next(FL_EVENT_REPLAY).code, FL_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace forelock::test
