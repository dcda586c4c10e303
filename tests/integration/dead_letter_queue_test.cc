// DeadLetterQueue on a real outbox and a real broker; what is in the topic is read back with kcat.
#include <sys/wait.h>
#include <unistd.h>

#include "forelock/forelock.h"
#include "forward/forward_all.h"
#include "integration/dead_letters.h"
#include "integration/fixture.h"
#include "letter/base64.h"
#include "letter/letter_json.h"
#include "support/child_process.h"
#include "support/log_lines.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using ::testing::IsSupersetOf;

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

class OutboxOnlyTest : public ::testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::filesystem::path outbox_ = directory_.path() / "state" / "outbox.db";
};

TEST_F(OutboxOnlyTest, WithoutKafkaTheOutboxIsTheQueue) {
  const auto before = threads_of_this_process();
  {
    DeadLetterQueue queue(queue_settings(outbox_, ""));
    EXPECT_EQ(queue.statistics().outbox_rows, 0u);
    EXPECT_FALSE(queue.statistics().oldest_age);
    EXPECT_TRUE(queue.flush(0s));
    queue.accept(example_letter("1"));
    queue.accept(example_letter("2"));
    queue.accept(example_letter("2"));
    const DeadLetterQueueStatistics statistics = queue.statistics();
    EXPECT_EQ(statistics.outbox_rows, 2u);
    EXPECT_GT(statistics.outbox_bytes, 200u);
    EXPECT_EQ(statistics.accepted, 3u);
    EXPECT_GT(*statistics.oldest_age, 0ms);
    EXPECT_FALSE(statistics.forwarding);
    EXPECT_EQ(threads_of_this_process(), before);
    const auto begin = steady_clock::now();
    EXPECT_FALSE(queue.flush(1h));
    EXPECT_LT(steady_clock::now() - begin, 1s);
  }
  EXPECT_THAT(ids_in(outbox_), ElementsAre("1", "2"));
}

TEST_F(OutboxOnlyTest, OtherKafkaSettingsAloneMakeNoForwarder) {
  const DeadLetterQueue queue(queue_settings(outbox_, "", "T", {{"kafka.linger.ms", "1"}}));
  EXPECT_FALSE(queue.statistics().forwarding);
}

TEST_F(OutboxOnlyTest, NothingIsLostBeforeThereIsKafkaAtAll) {
  const Settings nobody_there = queue_settings(outbox_, "127.0.0.1:1");
  const auto begin = steady_clock::now();
  {
    DeadLetterQueue queue(nobody_there);
    queue.accept(example_letter("1"));
    EXPECT_FALSE(queue.flush(100ms));
    EXPECT_EQ(queue.statistics().delivered, 0u);
  }
  EXPECT_LT(steady_clock::now() - begin, 5s);
  EXPECT_THAT(ids_in(outbox_), ElementsAre("1"));
}

TEST_F(OutboxOnlyTest, ForwardingByCommandNeedsKafka) {
  try {
    forward::forward_all(queue_settings(outbox_, ""), {}, {}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::configuration);
    EXPECT_THAT(error.what(), HasSubstr("kafka.bootstrap.servers"));
  }
}

// One broker for all tests that do it no harm. Each has a topic and an outbox of its own.
class TopicTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { broker_ = std::make_unique<TestBroker>(); }
  static void TearDownTestSuite() { broker_.reset(); }

  void SetUp() override { topic_ = ::testing::UnitTest::GetInstance()->current_test_info()->name(); }

  Settings settings(std::initializer_list<std::pair<std::string, std::string>> more = {}) const {
    return queue_settings(outbox_, broker_->bootstrap(), topic_, more);
  }
  std::vector<TopicRecord> topic() const { return read_topic(broker_->bootstrap(), topic_); }
  std::unique_ptr<ChildProcess> start_worker(std::vector<std::string> options) const {
    std::vector<std::string> command = {FORELOCK_DEAD_LETTER_WORKER, outbox_.string(),
                                        (directory_.path() / "journal").string(), "dlq.topic=" + topic_};
    command.insert(command.end(), options.begin(), options.end());
    return std::make_unique<ChildProcess>(std::move(command), directory_.path() / "worker.log");
  }
  // With as many threads as share transactions well. Monitors P0, P1, …
  static void add_many(outbox::Outbox& outbox, int count) {
    constexpr int threads = 50;
    std::vector<std::thread> adders;
    for (int t = 0; t < threads; ++t) {
      adders.emplace_back([&outbox, count, t] {
        for (int i = t; i < count; i += threads) {
          outbox.add(example_letter(std::to_string(i), "P" + std::to_string(t), 500));
        }
      });
    }
    for (auto& adder : adders) adder.join();
  }
  // Which one of so many Kafka's own client chooses, as it is by default.
  std::int32_t javas_partition(const std::string& key, int partitions) const {
    make_topic(*broker_, topic_ + "-java", partitions);
    const auto file = directory_.path() / "key";
    std::string line;
    letter::append_base64(key, line);
    std::ofstream(file) << line << "\n";
    return std::stoi(
        TestBroker::run_java(FORELOCK_PARTITION_ORACLE, {broker_->bootstrap(), topic_ + "-java", file.string()}));
  }
  bool everything_left(std::chrono::milliseconds timeout = 30s) const {
    return wait_until([&] { return ids_in(outbox_).empty(); }, timeout);
  }

  static std::unique_ptr<TestBroker> broker_;
  TemporaryDirectory directory_;
  const std::filesystem::path outbox_ = directory_.path() / "outbox.db";
  std::string topic_;
};
std::unique_ptr<TestBroker> TopicTest::broker_;

TEST_F(TopicTest, OperationThatRunsOutOfRetriesIsInTheTopic) {
  make_topic(*broker_, topic_, 8);
  TestServer zookeeper(quick_server());
  Settings all = settings({{"elastic.request.retry.count", "1"}});
  all.set("zookeeper.servers", zookeeper.connect_string());
  Client client(all);
  DeadLetterQueue queue(all);
  OperationRunner runner(client, queue);
  Operation operation;
  operation.type = "saveContent";
  operation.monitor = "Produkt-ß/7";
  operation.payload = std::string("\0binary\xff", 8);
  operation.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const OperationResult result = runner.run(
      operation, [](OperationAttempt&) { throw OperationFailure("index_busy", "the index\nis busy", true); });
  ASSERT_EQ(result.status, OperationResult::Status::dead_lettered);
  ASSERT_TRUE(queue.flush(30s));

  const auto records = topic();
  ASSERT_EQ(records.size(), 1u);
  const TopicRecord& record = records[0];
  EXPECT_EQ(record.key, operation.monitor);
  EXPECT_EQ(record.partition, javas_partition(operation.monitor, 8));
  const DeadLetter letter = letter::from_json(record.value);
  EXPECT_EQ(letter.id, result.id);
  EXPECT_EQ(letter.monitor, operation.monitor);
  EXPECT_EQ(letter.payload, operation.payload);
  EXPECT_EQ(letter.reason, "index_busy");
  EXPECT_EQ(letter.attempts.size(), 2u);
  EXPECT_EQ(letter.max_attempts, 2u);
  EXPECT_EQ(record.header("content-type"), "application/json");
  EXPECT_EQ(record.header("ce_specversion"), "1.0");
  EXPECT_EQ(record.header("ce_id"), result.id);
  EXPECT_EQ(record.header("ce_subject"), operation.monitor);
  EXPECT_THAT(record.header("ce_type"), HasSubstr("saveContent"));
  EXPECT_EQ(record.header("dlq_reason"), "index_busy");
  EXPECT_EQ(record.header("dlq_message"), "the index is busy");
  EXPECT_EQ(record.header("dlq_attempts"), "2");
  EXPECT_EQ(record.header("dlq_max_attempts"), "2");
  EXPECT_EQ(record.header("dlq_replay_count"), "0");
  EXPECT_EQ(record.header("dlq_failed_at"), record.header("ce_time"));
  EXPECT_LE(record.header("dlq_first_failed_at"), record.header("dlq_failed_at"));
  EXPECT_EQ(record.header("traceparent"), operation.traceparent);
  EXPECT_THAT(ids_in(outbox_), IsEmpty());
  EXPECT_EQ(queue.statistics().delivered, 1u);
}

// Many threads, many monitors, several partitions: everything once, and in order within a monitor.
TEST_F(TopicTest, EverythingOnceAndInOrderWithinAMonitor) {
  constexpr int threads = 8;
  constexpr int each = 250;
  make_topic(*broker_, topic_, 4);
  DeadLetterQueue queue(settings());
  std::vector<std::thread> senders;
  for (int t = 0; t < threads; ++t) {
    senders.emplace_back([&, monitor = "P" + std::to_string(t)] {
      for (int i = 0; i < each; ++i) queue.accept(example_letter(monitor + "-" + std::to_string(i), monitor));
    });
  }
  for (auto& sender : senders) sender.join();
  ASSERT_TRUE(queue.flush(60s));
  std::map<std::string, std::vector<std::string>> by_monitor;
  std::map<std::string, std::set<std::int32_t>> partitions;
  for (const TopicRecord& record : topic()) {
    by_monitor[record.key].push_back(record.id());
    partitions[record.key].insert(record.partition);
  }
  EXPECT_EQ(by_monitor.size(), static_cast<std::size_t>(threads));
  for (const auto& [monitor, ids] : by_monitor) {
    std::vector<std::string> expected;
    for (int i = 0; i < each; ++i) expected.push_back(monitor + "-" + std::to_string(i));
    EXPECT_EQ(ids, expected) << monitor;
    EXPECT_EQ(partitions[monitor].size(), 1u) << monitor;
  }
  EXPECT_EQ(queue.statistics().delivered, static_cast<std::uint64_t>(threads * each));
  EXPECT_EQ(queue.statistics().delivery_failures, 0u);
}

// A broker shows a topic to its clients before each of its partitions takes records: it refuses a first request then,
// and would take the one behind it.
TEST_F(TopicTest, OrderHoldsWhileTheTopicIsBeingMade) {
  constexpr int monitors = 100;
  constexpr int each = 20;
  DeadLetterQueue queue(settings());
  std::thread maker([this] { make_topic(*broker_, topic_, 200); });
  for (int i = 0; i < each; ++i) {
    for (int m = 0; m < monitors; ++m) {
      const std::string monitor = "P" + std::to_string(m);
      queue.accept(example_letter(monitor + "-" + std::to_string(i), monitor));
    }
  }
  maker.join();
  ASSERT_TRUE(queue.flush(60s));
  std::map<std::string, std::vector<std::string>> by_monitor;
  for (const TopicRecord& record : topic()) by_monitor[record.key].push_back(record.id());
  EXPECT_EQ(by_monitor.size(), static_cast<std::size_t>(monitors));
  for (const auto& [monitor, ids] : by_monitor) {
    std::vector<std::string> expected;
    for (int i = 0; i < each; ++i) expected.push_back(monitor + "-" + std::to_string(i));
    EXPECT_EQ(ids, expected) << monitor;
  }
}

TEST_F(TopicTest, FindsWhatIsThereAlready) {
  make_topic(*broker_, topic_);
  {
    outbox::Outbox outbox({.path = outbox_});
    add_many(outbox, 2000);
  }
  DeadLetterQueue queue(settings());
  EXPECT_TRUE(queue.flush(30s));
  EXPECT_EQ(ids_of(topic()).size(), 2000u);
}

TEST_F(TopicTest, ShortLivedProcessGetsItsLetterThrough) {
  make_topic(*broker_, topic_);
  int at_once = 0;
  for (int i = 0; i < 5; ++i) {
    const auto begin = steady_clock::now();
    {
      DeadLetterQueue queue(settings());
      queue.accept(example_letter(std::to_string(i)));
    }
    EXPECT_LT(steady_clock::now() - begin, 3s);
    at_once += ids_in(outbox_).empty() ? 1 : 0;
  }
  EXPECT_GT(at_once, 0);
  std::vector<std::string> all = ids_of(topic());
  for (const std::string& id : ids_in(outbox_)) all.push_back(id);
  EXPECT_THAT(all, IsSupersetOf({"0", "1", "2", "3", "4"}));
}

TEST_F(TopicTest, TooLargeForTheTopicStaysAndBlocksNobody) {
  make_topic(*broker_, topic_, 1, {{"max.message.bytes", "5000"}});
  LogLines log;
  DeadLetterQueue queue(settings(), log.sink());
  queue.accept(example_letter("before"));
  queue.accept(example_letter("large", "P1", 20'000));
  queue.accept(example_letter("behind"));
  ASSERT_TRUE(wait_until([&] { return queue.statistics().delivered == 2; }, 30s));
  ASSERT_TRUE(wait_until([&] { return queue.statistics().delivery_failures > 0; }, 30s));
  EXPECT_TRUE(wait_until([&] { return queue.statistics().outbox_rows == 1; }));
  // In any order: what was in one batch with a letter that is refused is sent again, behind what was not.
  EXPECT_THAT(ids_of(topic()), UnorderedElementsAre("before", "behind"));
  EXPECT_THAT(ids_in(outbox_), ElementsAre("large"));
  EXPECT_FALSE(queue.flush(300ms));
  EXPECT_EQ(queue.statistics().delivery_failures, 1u) << "it is not tried again at once";
  EXPECT_THAT(queue.statistics().last_problem, AllOf(HasSubstr("large"), HasSubstr("P1")));
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("error: "), HasSubstr("dead letter large"))));
  EXPECT_THAT(log.lines(), Not(Contains(HasSubstr("xxxxx")))) << "a payload is never logged";
}

// Many together are more than the topic takes at once, though each of them fits.
TEST_F(TopicTest, BatchesTooLargeForTheTopic) {
  make_topic(*broker_, topic_, 2, {{"max.message.bytes", "10000"}});
  {
    outbox::Outbox outbox({.path = outbox_});
    add_many(outbox, 500);
    outbox.add(example_letter("large", "P1", 20'000));
  }
  DeadLetterQueue queue(settings());
  EXPECT_TRUE(wait_until([&] { return queue.statistics().delivered == 500; }, 60s));
  EXPECT_TRUE(wait_until([&] { return ids_in(outbox_) == std::vector<std::string>{"large"}; }, 30s));
  const auto ids = ids_of(topic());
  EXPECT_EQ(ids.size(), 500u);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 500u);
}

TEST_F(TopicTest, ParkedLettersAreNotForwarded) {
  make_topic(*broker_, topic_);
  {
    outbox::Outbox outbox({.path = outbox_});
    outbox.add(example_letter("parked"));
    outbox.add(example_letter("queued"));
    outbox.set_state(outbox.find("parked")->ref(), outbox::RowState::parked);
  }
  DeadLetterQueue queue(settings());
  EXPECT_TRUE(queue.flush(30s)) << "what is parked is not waited for";
  EXPECT_THAT(ids_of(topic()), ElementsAre("queued"));
  EXPECT_THAT(ids_in(outbox_), ElementsAre("parked"));
}

TEST_F(TopicTest, TopicThatIsMadeLater) {
  LogLines log;
  DeadLetterQueue queue(settings({{"kafka.topic.metadata.propagation.max.ms", "500"},
                                  {"kafka.topic.metadata.refresh.fast.interval.ms", "50"}}),
                        log.sink());
  queue.accept(example_letter("1"));
  ASSERT_TRUE(wait_until([&] { return !queue.statistics().last_problem.empty(); }, 60s));
  EXPECT_EQ(queue.statistics().outbox_rows, 1u);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("warning: ")));
  queue.accept(example_letter("2"));
  make_topic(*broker_, topic_);
  EXPECT_TRUE(queue.flush(60s));
  EXPECT_THAT(ids_of(topic()), ElementsAre("1", "2"));
  EXPECT_THAT(log.lines(), Contains(HasSubstr("info: dead letters reach Kafka again")));
}

TEST_F(TopicTest, LettersOfOtherProcesses) {
  make_topic(*broker_, topic_);
  const DeadLetterQueue queue(settings());
  const auto worker = start_worker({"name=other", "letters=3"});
  ASSERT_TRUE(wait_until([&] { return queue.statistics().delivered == 3; }, 30s));
  EXPECT_TRUE(everything_left());
  EXPECT_THAT(ids_of(topic()), ElementsAre("other-0-0", "other-0-1", "other-0-2"));
}

TEST_F(TopicTest, OneProcessForwardsAndAnotherTakesOverWhenItDies) {
  make_topic(*broker_, topic_);
  const auto worker = start_worker({"name=first", "letters=1", "kafka.bootstrap.servers=" + broker_->bootstrap()});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(directory_.path() / "journal"); }));
  ASSERT_TRUE(wait_until([&] { return ids_of(topic()).size() == 1; }, 30s));
  DeadLetterQueue queue(settings());
  queue.accept(example_letter("second"));
  EXPECT_TRUE(queue.flush(30s)) << "the worker forwards it";
  EXPECT_FALSE(queue.statistics().forwarding);
  EXPECT_EQ(queue.statistics().delivered, 0u);
  worker->signal(SIGSTOP);
  queue.accept(example_letter("third"));
  EXPECT_FALSE(queue.flush(1500ms)) << "a process that stands still keeps the outbox";
  worker->kill();
  EXPECT_TRUE(queue.flush(30s));
  EXPECT_TRUE(queue.statistics().forwarding);
  EXPECT_EQ(queue.statistics().delivered, 1u);
  EXPECT_THAT(ids_of(topic()), ElementsAre("first-0-0", "second", "third"));
}

TEST_F(TopicTest, ALetterThatIsPutBackIntoTheQueueBehindTheOthersIsForwarded) {
  make_topic(*broker_, topic_);
  outbox::Outbox outbox({.path = outbox_});
  outbox.add(example_letter("parked"));
  const outbox::RowRef parked = outbox.find("parked")->ref();
  outbox.set_state(parked, outbox::RowState::parked);
  DeadLetterQueue queue(settings());
  queue.accept(example_letter("other"));
  ASSERT_TRUE(wait_until([&] { return queue.statistics().delivered == 1; }, 30s));
  outbox.set_state(parked, outbox::RowState::queued);
  // It looks behind itself twice a minute.
  EXPECT_TRUE(wait_until([&] { return queue.statistics().delivered == 2; }, 90s));
  EXPECT_THAT(ids_of(topic()), ElementsAre("other", "parked"));
}

TEST_F(TopicTest, ForkedChild) {
  make_topic(*broker_, topic_);
  DeadLetterQueue queue(settings());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    bool refused = false;
    try {
      queue.accept(example_letter("child"));
    } catch (const RequestRejectedException& error) {
      refused = error.code() == ErrorCode::forked;
    }
    queue.~DeadLetterQueue();
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  queue.accept(example_letter("parent"));
  EXPECT_TRUE(queue.flush(30s));
  EXPECT_THAT(ids_of(topic()), ElementsAre("parent"));
}

TEST_F(TopicTest, ForwardingByCommand) {
  make_topic(*broker_, topic_, 1, {{"max.message.bytes", "5000"}});
  {
    outbox::Outbox outbox({.path = outbox_});
    add_many(outbox, 100);
  }
  std::vector<forward::ForwardProgress> seen;
  const auto note = [&](const forward::ForwardProgress& progress) { seen.push_back(progress); };
  forward::ForwardProgress end = forward::forward_all(settings(), {}, note, {});
  EXPECT_EQ(end.waiting, 0u);
  EXPECT_EQ(end.delivered, 100u);
  EXPECT_EQ(seen.front().waiting, 100u);
  EXPECT_EQ(seen.back().waiting, 0u);
  EXPECT_THAT(ids_in(outbox_), IsEmpty());

  outbox::Outbox({.path = outbox_}).add(example_letter("large", "P1", 20'000));
  end = forward::forward_all(settings(), {}, {}, {});
  EXPECT_EQ(end.waiting, 1u) << "it ends although one letter is left";
  EXPECT_EQ(end.refused, 1u);
  EXPECT_THAT(end.last_problem, HasSubstr("large"));

  std::stop_source stop;
  end = forward::forward_all(
      queue_settings(outbox_, "127.0.0.1:1"), {},
      [&](const forward::ForwardProgress& progress) {
        EXPECT_EQ(progress.waiting, 1u);
        stop.request_stop();
      },
      stop.get_token());
  EXPECT_EQ(end.waiting, 1u);
}

}  // namespace
}  // namespace forelock::test
