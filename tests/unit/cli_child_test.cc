// A command that is to run under a lock.
#include "cli/process/child_process.h"
#include "cli/process/inherited_descriptors.h"
#include "cli/process/signal_queue.h"
#include "cli/run/guarded_lock.h"
#include "cli/run/locked_child.h"
#include "forelock/client.h"
#include "forelock/error.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::cli {
namespace {

class FixedLock final : public GuardedLock {
 public:
  explicit FixedLock(bool healthy) : healthy_(healthy) {}

  std::string name() const override { return "P1"; }
  LockState state() const override { return healthy_ ? LockState::held : LockState::lost; }
  bool healthy() const override { return healthy_; }
  void check_health() const override {
    if (!healthy_) throw LockUnhealthyException(ErrorCode::lock_unhealthy, "P1", "the lock on P1 is lost (removed)");
  }
  std::chrono::steady_clock::time_point expires_at() const override {
    return std::chrono::steady_clock::now() + std::chrono::hours(1);
  }
  std::stop_token stop_token() const override { return {}; }
  std::vector<std::pair<std::string, std::string>> environment(const Client& /*client*/) const override { return {}; }

 private:
  const bool healthy_;
};

// The guardian looks all the time.
class NoSignals final : public SignalSource {
 public:
  std::optional<int> wait(const WakeUp& /*wake_up*/, std::chrono::steady_clock::time_point /*until*/) override {
    return std::nullopt;
  }
};

Settings no_server() {
  Settings settings;
  settings.set({{"zookeeper.servers", "127.0.0.1:1"}});
  return settings;
}

TEST(CliChild, IsNotBegunWithoutItsLock) {
  const test::TemporaryDirectory directory;
  const std::string begun = directory.path() / "begun";
  const Client client(no_server());
  const InheritedDescriptors inherited;
  NoSignals signals;
  ChildOptions child;
  child.command = {"touch", begun};
  std::string said;
  try {
    run_under_lock(FixedLock(false), client, child, {}, inherited, signals, Console({}));
  } catch (const LockUnhealthyException& error) {
    said = error.what();
  }
  EXPECT_EQ(said, "the lock on P1 is lost (removed); the command was not begun");
  EXPECT_FALSE(std::filesystem::exists(begun));
  run_under_lock(FixedLock(true), client, child, {}, inherited, signals, Console({}));
  EXPECT_TRUE(std::filesystem::exists(begun));
}

}  // namespace
}  // namespace forelock::cli
