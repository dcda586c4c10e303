// A guardian whose lock nobody calls lost, with a command that does not listen.
#include <signal.h>

#include "cli/output/console.h"
#include "cli/process/child_process.h"
#include "cli/process/signal_queue.h"
#include "cli/run/lock_guardian.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::cli {
namespace {

// Its deadline passes, and its state says nothing of it.
class LateLock final : public GuardedLock {
 public:
  std::string name() const override { return "P1"; }
  LockState state() const override { return LockState::suspect; }
  bool healthy() const override { return true; }
  void check_health() const override {}
  std::chrono::steady_clock::time_point expires_at() const override { return deadline_; }
  std::stop_token stop_token() const override { return {}; }
  std::vector<std::pair<std::string, std::string>> environment(const Client& /*client*/) const override { return {}; }

 private:
  const std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + 500ms;
};

TEST(GuardianTest, NoTimeToEndOutlastsTheLocksDeadline) {
  SignalQueue signals({SIGCHLD});
  ChildOptions options;
  options.command = {"sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"};
  options.foreground = false;
  ChildProcess child(options);
  const LateLock lock;
  const auto begin = std::chrono::steady_clock::now();
  const auto result =
      LockGuardian(lock, signals, Console({.quiet = true}), {OnLost::terminate, 60s, 100ms}).guard(child);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_TRUE(result.lock_lost);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

// Suspect at once, and lost when the test says so, long before its deadline.
class TakenLock final : public GuardedLock {
 public:
  std::string name() const override { return "P1"; }
  LockState state() const override { return stop_.stop_requested() ? LockState::lost : LockState::suspect; }
  bool healthy() const override { return false; }
  void check_health() const override {}
  std::chrono::steady_clock::time_point expires_at() const override { return deadline_; }
  std::stop_token stop_token() const override { return stop_.get_token(); }
  std::vector<std::pair<std::string, std::string>> environment(const Client& /*client*/) const override { return {}; }

  void lose() { stop_.request_stop(); }

 private:
  const std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + 1h;
  std::stop_source stop_;
};

// The command was told to end when the danger came: with the loss its time is over.
TEST(GuardianTest, WhoWasWarnedHasNoMoreTimeWhenTheLockIsLost) {
  const test::TemporaryDirectory directory;
  const std::string told = directory.path() / "told";
  const std::string ready = told + ".ready";
  SignalQueue signals({SIGCHLD});
  ChildOptions options;
  options.command = {"sh", "-c", "trap 'echo >\"$0\"' TERM; echo >\"$0.ready\"; while :; do sleep 0.05; done", told};
  options.foreground = false;
  ChildProcess child(options);
  ASSERT_TRUE(test::wait_until([&] { return std::filesystem::exists(ready); }));  // else TERM ends it
  TakenLock lock;
  std::jthread taker([&] {
    EXPECT_TRUE(test::wait_until([&] { return std::filesystem::exists(told); }));
    lock.lose();
  });
  const auto begin = std::chrono::steady_clock::now();
  // The danger has come with a margin of two hours.
  const auto result = LockGuardian(lock, signals, Console({.quiet = true}), {OnLost::terminate, 5min, 2h}).guard(child);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_TRUE(result.lock_lost);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4min);
}

}  // namespace
}  // namespace forelock::cli
