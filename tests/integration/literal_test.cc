// Clients of others that follow the algorithm to the letter, and ours, on one monitor.
#include <sys/wait.h>

#include "integration/fenced_resource.h"
#include "integration/fixture.h"
#include "integration/load.h"
#include "integration/lock_history.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class LiteralTest : public ::testing::TestWithParam<std::string> {
 protected:
  LiteralTest() {
    ServerOptions options = quick_server();
    options.config_lines.push_back("dataLogDir=" + log_.path().string());
    server_ = std::make_unique<TestServer>(options);
  }

  // A literal client; it ends by itself.
  void start_literal(const std::string& prefix, int rounds, const std::string& order, const std::string& hold) {
    start({"/usr/bin/python3", FORELOCK_LITERAL_CLIENT, "--servers", server_->connect_string(), "--monitor", monitor_,
           "--resource", resource_.socket(), "--prefix", prefix, "--rounds", std::to_string(rounds), "--order", order,
           "--hold-ms", hold, "--who", "literal-" + prefix, keeps_monitor_ ? "--keeps-monitor" : "--begins-again"});
  }
  void start_worker(const std::string& priority, int rounds, const std::string& mode) {
    start({FORELOCK_LOCK_WORKER, server_->connect_string(), monitor_, resource_.socket(), "class=" + priority,
           "rounds=" + std::to_string(rounds), "mode=" + mode, "who=ours-" + priority,
           "zookeeper.lock.watch=" + GetParam()});
  }
  void start(std::vector<std::string> command) {
    outputs_.push_back(log_.path() / ("output-" + std::to_string(outputs_.size())));
    children_.push_back(std::make_unique<ChildProcess>(std::move(command), outputs_.back()));
  }
  void start_thread(Priority priority, int rounds, bool async) {
    LoadOptions options;
    options.monitor = monitor_;
    options.priority = priority;
    options.rounds = rounds;
    options.resource = resource_.socket();
    options.who = "ours-" + std::string(name_of(priority));
    options.async = async;
    loads_.push_back(std::async(std::launch::async, [this, options] { return run_load(*client_, options); }));
  }
  // Waits for all; what they say if something went wrong.
  void finish() {
    for (auto& load : loads_) {
      ASSERT_EQ(load.wait_for(120s), std::future_status::ready) << "a thread still waits";
      const LoadResult result = load.get();
      EXPECT_TRUE(result.errors.empty() && result.stale == 0 && result.cut_short == 0) << result;
    }
    for (std::size_t i = 0; i < children_.size(); ++i) {
      ASSERT_TRUE(wait_until([&] { return !children_[i]->running(); }, 120s)) << "a process still waits";
      std::ifstream output(outputs_[i]);
      const std::string said(std::istreambuf_iterator<char>(output), {});
      EXPECT_EQ(children_[i]->wait(), 0) << said;
      EXPECT_EQ(said.find("lock_timeout"), std::string::npos) << said;
    }
  }

  TemporaryDirectory log_;
  std::unique_ptr<TestServer> server_;
  FencedResource resource_;
  std::string monitor_ = "shared";
  bool keeps_monitor_ = false;  // literal clients do as docs/protocol.md says that they must, and never begin again
  std::unique_ptr<Client> client_;
  std::vector<std::future<LoadResult>> loads_;
  std::vector<std::filesystem::path> outputs_;
  std::vector<std::unique_ptr<ChildProcess>> children_;
};

TEST_P(LiteralTest, ThousandsOfMixedRounds) {
  const auto begun = std::chrono::steady_clock::now();
  keeps_monitor_ = true;
  client_ = std::make_unique<Client>(settings_for(
      server_->connect_string(), {{"zookeeper.lock.watch", GetParam()}, {"zookeeper.monitor.linger", "1ms"}}));
  const int rounds = 170 * length();
  start_literal("A", rounds, "node-first", "0");
  start_literal("A", rounds, "lock-first", "1");
  start_literal("B", rounds, "node-first", "1");
  start_literal("B", rounds, "lock-first", "0");
  start_worker("foreground", 2 * rounds, "blocking");
  start_worker("background", 2 * rounds, "async");
  start_thread(Priority::foreground, rounds, false);
  start_thread(Priority::background, rounds, false);
  start_thread(Priority::foreground, rounds, true);
  start_thread(Priority::background, rounds, true);
  finish();

  EXPECT_EQ(resource_.entered(), static_cast<std::size_t>(12 * rounds));
  EXPECT_THAT(resource_.overlaps(), ::testing::IsEmpty());
  EXPECT_EQ(resource_.stale(), 0u);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  client_->close();
  EXPECT_TRUE(wait_until_unused(*server_, monitor_));

  const LockHistory history(read_transaction_log(log_.path()), "/" + monitor_);
  EXPECT_THAT(history.left_over(), ::testing::IsEmpty());
  EXPECT_THAT(history.stolen(), ::testing::IsEmpty());
  int contended = 0;
  for (const auto& visit : resource_.visits()) {
    if (!visit.who.starts_with("ours")) continue;
    EXPECT_EQ(history.injustice(visit.token), "") << visit.who;
    if (history.waiting(visit.token, 'A') + history.waiting(visit.token, 'B') > 0) ++contended;
  }
  EXPECT_GT(contended, rounds);  // it was a contest
  std::cout << resource_.entered() << " sections in " << milliseconds.count() << " ms, " << contended
            << " of ours granted with others in the queue\n";
}

// The node of a monitor that ours have made goes away, that of a literal client stays, as its algorithm wants it.
TEST_P(LiteralTest, EmptyMonitorsVanish) {
  client_ = std::make_unique<Client>(settings_for(server_->connect_string(), {{"zookeeper.lock.watch", GetParam()}}));
  Inspector inspector(*client_);
  {
    BlockingWriteLock lock(*client_, "first", monitor_);
    lock.lock_with_timeout();
    // While this is there, the container does not vanish between two rounds, to be made anew by the literal client.
    lock.write_guarded({CreateNode{"/" + monitor_ + "/kept", ""}});
    start_literal("A", 20, "node-first", "0");
    EXPECT_TRUE(wait_until([&] { return !inspector.show(monitor_)->queue.empty(); }));
    lock.unlock();
    finish();
    lock.lock_with_timeout();
    lock.write_guarded({DeleteNode{"/" + monitor_ + "/kept"}});
    lock.unlock();
  }
  EXPECT_TRUE(wait_until([&] { return !inspector.show(monitor_); })) << "the container is still there";
  monitor_ = "literal";
  children_.clear();
  outputs_.clear();
  start_literal("B", 20, "lock-first", "0");
  finish();
  start_worker("background", 20, "blocking");
  finish();
  const auto view = inspector.show(monitor_);
  ASSERT_TRUE(view);
  EXPECT_TRUE(!view->holder && view->queue.empty());
  EXPECT_EQ(resource_.entered(), 60u);
  EXPECT_THAT(resource_.overlaps(), ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Watch, LiteralTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace forelock::test
