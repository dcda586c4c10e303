// Processes that dead-letter are killed, at chosen steps and at any moment, while Kafka has troubles of its own: every
// letter that was taken over is in the topic or in the outbox afterwards, and what is in the topic twice is the same.
//
// The rounds follow from a seed (FORELOCK_SEED, else always the same). FORELOCK_LONG=9 makes it more than 500 rounds.
#include "forward/forward_all.h"
#include "integration/dead_letter_ledger.h"
#include "integration/dead_letters.h"
#include "integration/fixture.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr int rounds_in_a_short_run = 60;

enum class KafkaTrouble { none, killed, restarted, paused, topic_missing };

constexpr const char* name_of(KafkaTrouble trouble) {
  constexpr const char* names[] = {"no trouble", "killed", "restarted", "paused", "topic missing"};
  return names[static_cast<int>(trouble)];
}

// A call that changes the outbox's files or sends to a socket, and when the process dies with regard to it.
struct Step {
  int call = 1;
  std::string action;  // of the shim
};

// What happens in one round.
struct Round {
  int number = 0;
  bool operations = false;      // through OperationRunner, else accept()
  bool second_process = false;  // on the same outbox
  KafkaTrouble trouble = KafkaTrouble::none;
  std::optional<Step> step;
  // Without a step: killed so long after its start, or after its last letter.
  bool after_last_letter = false;
  milliseconds delay{0};

  std::string describe() const {
    const std::string when = step ? step->action + " call " + std::to_string(step->call)
                                  : "kill " + std::to_string(delay.count()) + " ms after the " +
                                        (after_last_letter ? "last letter" : "start");
    return "round " + std::to_string(number) + ": " + (operations ? "operations" : "letters") +
           (second_process ? ", two processes" : "") + ", Kafka: " + name_of(trouble) + ", " + when;
  }
};

class CrashTest : public ::testing::Test {
 protected:
  CrashTest() { make_topic(broker_, topics_.back()); }

  // Every call that a worker makes while all is well, with each way to die at it.
  void find_steps(bool operations) {
    const auto log = directory_.path() / (operations ? "calls-of-operations" : "calls-of-letters");
    Round round;
    round.operations = operations;
    const auto worker = start(round, {"FAULT_SHIM_LOG=" + log.string()},
                              operations ? "probe-operations" : "probe-letters", {"wait=flush"});
    ASSERT_EQ(worker->wait(), 0);
    std::ifstream lines(log);
    const auto calls = static_cast<int>(std::count(std::istreambuf_iterator<char>(lines), {}, '\n'));
    ASSERT_GT(calls, 20);
    for (int call = 1; call <= calls; ++call) {
      for (const char* action : {"kill_before", "kill_half", "kill_after"}) {
        steps_[operations].push_back({call, action});
      }
    }
    std::shuffle(steps_[operations].begin(), steps_[operations].end(), random_);
    std::cout << calls << " calls in a process with " << (operations ? "operations" : "letters") << "\n";
  }

  Round plan(int number) {
    Round round;
    round.number = number;
    round.operations = pick(3) == 0;
    round.second_process = pick(6) == 0;
    if (pick(5) == 0) round.trouble = static_cast<KafkaTrouble>(1 + pick(4));
    if (pick(4) != 0) {
      const auto& steps = steps_[round.operations];
      round.step = steps[next_step_[round.operations]++ % steps.size()];
    } else {
      round.after_last_letter = pick(2) == 0;
      round.delay = milliseconds(pick(round.after_last_letter ? 60 : 250));
    }
    return round;
  }
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  void run(const Round& round) {
    begin_trouble(round.trouble);
    std::vector<std::string> faults;
    if (round.step) {
      faults = {"FAULT_SHIM_ACTION=" + round.step->action, "FAULT_SHIM_STEP=" + std::to_string(round.step->call)};
    }
    const std::string number = std::to_string(round.number);
    const auto worker = start(round, faults, "r" + number);
    const auto journal = journal_;
    std::unique_ptr<ChildProcess> second;
    if (round.second_process) second = start(round, {}, "s" + number);
    if (round.trouble == KafkaTrouble::restarted) broker_.restart(false);

    const auto started = steady_clock::now();
    std::optional<steady_clock::time_point> last_letter;
    const auto time_is_up = [&] {
      const auto now = steady_clock::now();
      if (!last_letter && DeadLetterLedger::done(journal)) last_letter = now;
      // While Kafka has troubles there may be fewer calls than the step's.
      if (round.step) return last_letter && now - *last_letter >= 500ms;
      return round.after_last_letter ? last_letter && now - *last_letter >= round.delay : now - started >= round.delay;
    };
    EXPECT_TRUE(wait_until([&] { return !worker->running() || time_is_up(); }, 20s)) << round.describe();
    ++(worker->running() ? killed_by_time_ : killed_at_a_step_);
    worker->kill();
    if (second) second->kill();
    end_trouble(round.trouble);
    ++troubles_[name_of(round.trouble)];
  }

  void begin_trouble(KafkaTrouble trouble) {
    if (trouble == KafkaTrouble::killed) broker_.kill();
    if (trouble == KafkaTrouble::paused) broker_.pause();
    if (trouble == KafkaTrouble::topic_missing) topics_.push_back("T" + std::to_string(topics_.size()));
  }
  void end_trouble(KafkaTrouble trouble) {
    if (trouble == KafkaTrouble::killed) broker_.restart();
    if (trouble == KafkaTrouble::restarted) {
      ASSERT_TRUE(broker_.wait_until_serving()) << broker_.log_tail();
    }
    if (trouble == KafkaTrouble::paused) broker_.resume();
    if (trouble == KafkaTrouble::topic_missing) make_topic(broker_, topics_.back());
  }

  std::unique_ptr<ChildProcess> start(const Round& round, const std::vector<std::string>& faults,
                                      const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command;
    if (!faults.empty()) {
      command = {"env", "LD_PRELOAD=" FORELOCK_FAULT_SHIM, "FAULT_SHIM_CALLS=all",
                 "FAULT_SHIM_PATH=" + outbox_.string(), "FAULT_SHIM_PROGRAM=dead_letter_worker"};
      command.insert(command.end(), faults.begin(), faults.end());
    }
    journal_ = ledger_.new_journal();
    command.insert(command.end(),
                   {FORELOCK_DEAD_LETTER_WORKER, outbox_.string(), journal_.string(), "name=" + name, "threads=2",
                    "letters=2", "dlq.topic=" + topics_.back(), "kafka.bootstrap.servers=" + broker_.bootstrap(),
                    "kafka.reconnect.backoff.max.ms=100"});
    if (round.operations) {
      command.insert(command.end(), {"zookeeper=" + zookeeper_.connect_string(), "zookeeper.session.timeout=1000"});
    }
    command.insert(command.end(), more.begin(), more.end());
    return std::make_unique<ChildProcess>(std::move(command), directory_.path() / "workers.log");
  }

  // Nothing may run.
  std::vector<std::string> check() {
    const std::vector<std::string> topics(topics_.begin() + static_cast<std::ptrdiff_t>(topics_checked_),
                                          topics_.end());
    topics_checked_ = topics_.size() - 1;
    return ledger_.check(broker_.bootstrap(), topics);
  }

  void forward_the_rest() {
    std::stop_source stop;
    const auto begin = steady_clock::now();
    forward::forward_all(
        queue_settings(outbox_, broker_.bootstrap(), topics_.back()), {},
        [&](const forward::ForwardProgress&) {
          if (steady_clock::now() - begin > 60s) stop.request_stop();
        },
        stop.get_token());
  }

  static std::uint64_t seed() {
    const char* given = std::getenv("FORELOCK_SEED");
    return given != nullptr ? std::stoull(given) : 20251121;
  }

  TemporaryDirectory directory_;
  const std::filesystem::path outbox_ = directory_.path() / "outbox.db";
  TestServer zookeeper_{quick_server()};
  TestBroker broker_;
  std::vector<std::string> topics_ = {"T0"};
  std::size_t topics_checked_ = 0;  // nothing new comes to those before
  DeadLetterLedger ledger_{directory_.path(), outbox_};
  std::filesystem::path journal_;
  std::mt19937_64 random_{seed()};
  std::map<bool, std::vector<Step>> steps_;
  std::map<bool, std::size_t> next_step_;
  int killed_at_a_step_ = 0;
  int killed_by_time_ = 0;
  std::map<std::string, int> troubles_;
};

TEST_F(CrashTest, NothingIsLost) {
  const int rounds = 60 * length();
  ASSERT_NO_FATAL_FAILURE(find_steps(false));
  ASSERT_NO_FATAL_FAILURE(find_steps(true));
  std::size_t most_in_outbox = 0;
  for (int number = 1; number <= rounds; ++number) {
    const Round round = plan(number);
    ASSERT_NO_FATAL_FAILURE(run(round)) << round.describe();
    if (number % 10 != 0 && number != rounds) continue;
    ASSERT_THAT(check(), ::testing::IsEmpty()) << "at the latest in " << round.describe() << ", seed " << seed();
    most_in_outbox = std::max(most_in_outbox, ledger_.in_outbox());
  }
  forward_the_rest();
  EXPECT_THAT(check(), ::testing::IsEmpty());
  EXPECT_EQ(ledger_.in_outbox(), 0u) << "what is in the outbox can be forwarded";
  EXPECT_GT(killed_at_a_step_, rounds / 3);

  std::cout << rounds << " rounds, seed " << seed() << ": " << killed_at_a_step_ << " processes killed at a step, "
            << killed_by_time_ << " at some time;";
  for (const auto& [trouble, count] : troubles_) std::cout << " Kafka " << trouble << " " << count << ",";
  std::cout << "\n"
            << ledger_.begun() << " letters begun, " << ledger_.accepted() << " accepted, " << ledger_.unconfirmed()
            << " taken over although their process died before it knew; " << ledger_.in_topics() << " in the topics, "
            << ledger_.duplicates() << " records more than once, up to " << most_in_outbox
            << " letters in the outbox at a check; none lost\n";
}

}  // namespace
}  // namespace forelock::test
