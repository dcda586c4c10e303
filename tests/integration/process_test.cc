// Processes that are killed, and processes that fork.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integration/fenced_resource.h"
#include "integration/fixture.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class ProcessTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<ChildProcess> start_worker(std::vector<std::string> options) {
    std::vector<std::string> command = {FORELOCK_LOCK_WORKER, server_.connect_string(), monitor_, resource_.socket(),
                                        "zookeeper.lock.watch=" + GetParam()};
    command.insert(command.end(), options.begin(), options.end());
    return std::make_unique<ChildProcess>(std::move(command), directory_.path() / "workers");
  }
  Settings settings() const { return settings_for(server_.connect_string(), {{"zookeeper.lock.watch", GetParam()}}); }

  TemporaryDirectory directory_;
  TestServer server_{quick_server()};
  FencedResource resource_;
  const std::string monitor_ = "killed";
};

TEST_P(ProcessTest, HolderKilled) {
  const auto holder = start_worker({"hold=600000", "zookeeper.session.timeout=2000"});
  ASSERT_TRUE(wait_until([&] { return resource_.entered() == 1; }));
  Client client(settings());
  BlockingWriteLock lock(client, "next", monitor_);
  auto granted = std::async(std::launch::async, [&] {
    lock.lock_with_timeout();
    return steady_clock::now();
  });
  EXPECT_TRUE(wait_until([&] { return Inspector(client).show(monitor_)->queue.size() == 1; }));
  const auto killed = steady_clock::now();
  holder->kill();
  ASSERT_EQ(granted.wait_for(20s), std::future_status::ready);
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(granted.get() - killed);
  EXPECT_LE(waited, 2000ms + 1000ms);
  EXPECT_TRUE(resource_.visits().at(0).killed);
  std::cout << "granted " << waited.count() << " ms after the kill, with a session time-out of 2000 ms\n";
  lock.unlock();
}

// A holder that stands still cannot know that it is not one any more; it learns it when it goes on. What it does in the
// meantime is stopped by its token.
TEST_P(ProcessTest, HolderStandsStill) {
  const auto holder = start_worker({"hold=600000", "rounds=1", "zookeeper.session.timeout=2000"});
  ASSERT_TRUE(wait_until([&] { return resource_.entered() == 1; }));
  Client client(settings());
  BlockingWriteLock lock(client, "next", monitor_);
  holder->signal(SIGSTOP);
  lock.lock_with_timeout();
  ResourceVisitor visitor(resource_.socket(), "next");
  EXPECT_TRUE(visitor.enter(lock.fencing_token()));
  ResourceVisitor late(resource_.socket(), "late");
  EXPECT_FALSE(late.enter(resource_.visits().at(0).token)) << "the resource takes the old token";
  holder->signal(SIGCONT);
  EXPECT_TRUE(wait_until([&] { return resource_.visits().at(0).left.has_value(); })) << "the old holder goes on";
  EXPECT_TRUE(lock.healthy());
  visitor.leave();
  lock.unlock();
  EXPECT_TRUE(wait_until([&] { return !holder->running(); }));
  EXPECT_EQ(holder->wait(), 0);
}

// FORELOCK_LONG=20 makes it more than 1,000 kills.
TEST_P(ProcessTest, RandomKills) {
  constexpr std::size_t workers = 5;
  const int rounds = 10 * length();
  std::mt19937 random(20240607);
  std::array<std::unique_ptr<ChildProcess>, workers> running;
  const auto start = [&](std::size_t i) {
    running[i] = start_worker({i % 2 ? "class=background" : "class=foreground", "hold=10",
                               i % 3 ? "mode=blocking" : "mode=async", "who=worker-" + std::to_string(i),
                               "zookeeper.session.timeout=1000"});
  };
  for (std::size_t i = 0; i < workers; ++i) start(i);
  int kills = 0;
  int restarts = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto before = resource_.entered();
    ASSERT_TRUE(wait_until([&] { return resource_.entered() >= before + 10; }, 60s)) << "no progress";
    for (int i = 0; i < 3; ++i, ++kills) {
      const std::size_t victim = random() % workers;
      // At any moment of a section.
      wait_until([&] { return random() % 64 == 0; });
      running[victim]->kill();
      start(victim);
    }
    if (round % 5 == 4) {
      server_.restart();
      ++restarts;
    }
  }
  const auto before = resource_.entered();
  EXPECT_TRUE(wait_until([&] { return resource_.entered() >= before + 10; }, 60s)) << "no progress";
  for (auto& worker : running) worker->kill();
  EXPECT_TRUE(wait_until_unused(server_, monitor_));
  EXPECT_THAT(resource_.overlaps(), ::testing::IsEmpty());
  EXPECT_EQ(resource_.stale(), 0u);
  int inside = 0;
  for (const auto& visit : resource_.visits()) inside += visit.killed ? 1 : 0;
  std::cout << kills << " kills, " << inside << " of them of a holder, " << restarts << " restarts of the server, "
            << resource_.entered() << " sections\n";
  // The monitor is as good as new.
  Client client(settings());
  BlockingWriteLock lock(client, "after", monitor_);
  lock.lock_with_timeout();
  lock.unlock();
}

// What a forked child may do with the parent's client: nothing, and harmlessly.
bool refused_as_forked(const std::function<void()>& call) {
  try {
    call();
  } catch (const RequestRejectedException& refused) {
    return refused.code() == ErrorCode::forked;
  } catch (...) {
  }
  return false;
}

TEST_P(ProcessTest, ForkedChild) {
  auto client = std::make_unique<Client>(settings());
  auto lock = std::make_unique<BlockingWriteLock>(*client, "parent", monitor_);
  BlockingWriteLock second(*client, "parent", "second");
  lock->lock_with_timeout();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    int failed = 0;
    if (lock->healthy()) failed |= 1;
    if (!refused_as_forked([&] { second.lock_with_timeout(); })) failed |= 2;
    if (!refused_as_forked([&] { second.try_lock(); })) failed |= 4;
    if (!refused_as_forked([&] { lock->unlock_or_throw(); })) failed |= 8;
    if (!refused_as_forked([&] { Inspector(*client).list(); })) failed |= 16;
    lock->unlock();
    lock.reset();
    client->close();
    client.reset();
    _exit(failed);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(lock->healthy());
  Client other(settings());
  BlockingWriteLock rival(other, "rival", monitor_);
  EXPECT_FALSE(rival.try_lock_for(300ms)) << "the child has freed the parent's lock";
  second.lock_with_timeout();
  second.unlock();
  lock->unlock();
  EXPECT_TRUE(rival.try_lock_for(10s));
  EXPECT_EQ(client->statistics().sessions_expired, 0u);
  EXPECT_EQ(client->statistics().disconnections, 0u);
}

INSTANTIATE_TEST_SUITE_P(Watch, ProcessTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace forelock::test
