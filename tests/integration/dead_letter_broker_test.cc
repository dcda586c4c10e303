// DeadLetterQueue while the broker has troubles: nothing is lost, nobody is kept waiting, and it goes on by itself.
#include <sched.h>
#include <sys/mount.h>

#include "forelock/forelock.h"
#include "integration/dead_letters.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr const char* topic = "MdmDeadLetterQueue";

class BrokerTroubleTest : public ::testing::Test {
 protected:
  void start_broker() {
    broker_.emplace();
    make_topic(*broker_, topic);
  }
  Settings settings(std::initializer_list<std::pair<std::string, std::string>> more = {}) const {
    Settings all = queue_settings(outbox_, broker_->bootstrap(), topic, more);
    all.set("kafka.reconnect.backoff.max.ms", "200");
    return all;
  }
  // Letters of three monitors, in turns.
  void accept_some(DeadLetterQueue& queue, int count) {
    for (int i = 0; i < count; ++i, ++next_) {
      const std::string monitor = "P" + std::to_string(next_ % 3);
      queue.accept(example_letter(monitor + "-" + std::to_string(next_), monitor));
      expected_[monitor].push_back(monitor + "-" + std::to_string(next_));
    }
  }
  // Each record once, in order within its monitor, or more than once where the broker had it and nobody was told.
  void expect_everything_in_order() const {
    std::map<std::string, std::vector<std::string>> seen;
    for (const TopicRecord& record : read_topic(broker_->bootstrap(), topic)) {
      auto& ids = seen[record.key];
      if (std::find(ids.begin(), ids.end(), record.id()) == ids.end()) ids.push_back(record.id());
    }
    EXPECT_EQ(seen, expected_);
    EXPECT_THAT(ids_in(outbox_), IsEmpty());
  }

  TemporaryDirectory directory_;
  const std::filesystem::path outbox_ = directory_.path() / "outbox.db";
  std::optional<TestBroker> broker_;
  int next_ = 0;
  std::map<std::string, std::vector<std::string>> expected_;
};

TEST_F(BrokerTroubleTest, KilledAndRestarted) {
  start_broker();
  DeadLetterQueue queue(settings());
  accept_some(queue, 3);
  ASSERT_TRUE(queue.flush(30s));
  broker_->kill();
  accept_some(queue, 30);
  const DeadLetterQueueStatistics early = queue.statistics();
  EXPECT_EQ(early.outbox_rows, 30u);
  EXPECT_FALSE(queue.flush(1s));
  const DeadLetterQueueStatistics late = queue.statistics();
  EXPECT_GE(*late.oldest_age, *early.oldest_age + 1s);
  EXPECT_NE(late.last_problem, "") << "one can see why";
  broker_->restart();
  EXPECT_TRUE(queue.flush(60s));
  accept_some(queue, 3);
  EXPECT_TRUE(queue.flush(30s));
  expect_everything_in_order();
  EXPECT_EQ(queue.statistics().delivered, 36u);
}

TEST_F(BrokerTroubleTest, PausedAndResumed) {
  start_broker();
  DeadLetterQueue queue(settings());
  accept_some(queue, 3);
  ASSERT_TRUE(queue.flush(30s));
  broker_->pause();
  accept_some(queue, 9);
  EXPECT_FALSE(queue.flush(500ms));
  EXPECT_EQ(queue.statistics().outbox_rows, 9u);
  broker_->resume();
  EXPECT_TRUE(queue.flush(60s));
  expect_everything_in_order();
}

// Longer than a confirmation may take: said, kept, and delivered when it is back.
TEST_F(BrokerTroubleTest, AwayForLong) {
  start_broker();
  std::atomic<int> warnings{0};
  std::atomic<int> recoveries{0};
  DeadLetterQueue queue(settings({{"kafka.message.timeout.ms", "500"}}),
                        [&](std::string_view level, std::string_view message) {
                          warnings += level == "warning" && message.find("wait in the outbox") != message.npos;
                          recoveries += level == "info" && message.find("again") != message.npos;
                        });
  broker_->kill();
  accept_some(queue, 12);
  ASSERT_TRUE(wait_until([&] { return queue.statistics().delivery_failures >= 2; }, 60s)) << "each time it takes long";
  accept_some(queue, 6);
  EXPECT_EQ(queue.statistics().outbox_rows, 18u);
  EXPECT_GE(warnings, 1);
  EXPECT_LE(warnings, 5) << "the log is not flooded";
  broker_->restart();
  EXPECT_TRUE(queue.flush(60s));
  expect_everything_in_order();
  EXPECT_EQ(recoveries, 1);
}

// The earlier letter has waited for longer than message.timeout.ms when Kafka comes back, the later one has not.
TEST_F(BrokerTroubleTest, LettersOfAMonitorDoNotOvertakeEachOther) {
  constexpr auto timeout = 12s;
  start_broker();
  DeadLetterQueue queue(settings({{"kafka.message.timeout.ms", "12000"}}));
  accept_some(queue, 3);
  ASSERT_TRUE(queue.flush(30s));
  broker_->kill();
  accept_some(queue, 3);
  EXPECT_FALSE(queue.flush(timeout - 2s)) << "the two ages are what this is about";
  accept_some(queue, 3);
  ASSERT_TRUE(wait_until([&] { return queue.statistics().delivery_failures >= 1; }, 60s));
  broker_->restart();
  EXPECT_TRUE(queue.flush(60s));
  expect_everything_in_order();
}

TEST_F(BrokerTroubleTest, QueueEndsInTimeAlthoughTheBrokerIsAway) {
  start_broker();
  for (const bool paused : {false, true}) {
    auto queue = std::make_unique<DeadLetterQueue>(settings());
    accept_some(*queue, 3);
    ASSERT_TRUE(queue->flush(30s));
    paused ? broker_->pause() : broker_->kill();
    accept_some(*queue, 3);
    const auto begin = steady_clock::now();
    queue.reset();
    EXPECT_LT(steady_clock::now() - begin, 3s);
    EXPECT_EQ(ids_in(outbox_).size(), 3u);
    paused ? broker_->resume() : broker_->restart();
  }
  DeadLetterQueue queue(settings());
  EXPECT_TRUE(queue.flush(30s));
  expect_everything_in_order();
}

// A disk of its own for the broker, in a mount namespace that nobody else sees.
class BrokerDiskTest : public BrokerTroubleTest {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "no mount namespace of our own: " << std::strerror(errno);
    std::filesystem::create_directory(disk_);
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("forelock-test", disk_.c_str(), "tmpfs", 0, "size=64m") != 0) {
      GTEST_SKIP() << "no disk for the broker: " << std::strerror(errno);
    }
    mounted_ = true;
    const char* const before = std::getenv("TMPDIR");
    const std::optional<std::string> temporary = before ? std::optional<std::string>(before) : std::nullopt;
    ::setenv("TMPDIR", disk_.c_str(), 1);
    start_broker();
    temporary ? ::setenv("TMPDIR", temporary->c_str(), 1) : ::unsetenv("TMPDIR");
  }
  void TearDown() override {
    broker_.reset();
    if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
  }
  // Needs a broker that does not run. Its log stays writable, for messages.
  void make_data_read_only() {
    const std::string data = (broker_->directory() / "data").string();
    ASSERT_EQ(::mount(data.c_str(), data.c_str(), nullptr, MS_BIND, nullptr), 0) << std::strerror(errno);
    ASSERT_EQ(::mount(nullptr, data.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0)
        << std::strerror(errno);
  }
  void make_data_writable() {
    ASSERT_EQ(::umount2((broker_->directory() / "data").c_str(), 0), 0) << std::strerror(errno);
  }

  const std::filesystem::path disk_ = directory_.path() / "disk";
  bool mounted_ = false;
};

TEST_F(BrokerDiskTest, ReadOnly) {
  DeadLetterQueue queue(settings());
  accept_some(queue, 3);
  ASSERT_TRUE(queue.flush(30s));
  broker_->kill();
  ASSERT_NO_FATAL_FAILURE(make_data_read_only());
  broker_->restart(false);
  accept_some(queue, 3);
  EXPECT_TRUE(wait_until([&] { return !broker_->running(); }, 30s)) << "it cannot serve";
  EXPECT_EQ(queue.statistics().outbox_rows, 3u);
  ASSERT_NO_FATAL_FAILURE(make_data_writable());
  broker_->restart();
  EXPECT_TRUE(queue.flush(60s));
  expect_everything_in_order();
}

TEST_F(BrokerDiskTest, Full) {
  DeadLetterQueue queue(settings());
  accept_some(queue, 3);
  ASSERT_TRUE(queue.flush(30s));
  const auto filler = disk_ / "filler";
  {
    std::ofstream file(filler, std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
  }
  ASSERT_EQ(std::filesystem::space(disk_).available, 0u);
  // Some may still fit into pages that the broker has.
  ASSERT_TRUE(wait_until(
      [&] {
        accept_some(queue, 3);
        return !broker_->running();
      },
      60s))
      << "the broker goes on without a disk";
  EXPECT_GT(queue.statistics().outbox_rows, 0u);
  std::filesystem::remove(filler);
  broker_->restart();
  EXPECT_TRUE(queue.flush(60s));
  expect_everything_in_order();
}

}  // namespace
}  // namespace forelock::test
