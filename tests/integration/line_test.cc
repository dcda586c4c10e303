// Long lines: urgent work behind a hundred waiters, and ten thousand waiters in one process.
#include <malloc.h>
#include <unistd.h>

#include "integration/fixture.h"
#include "integration/load.h"
#include "integration/lock_history.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

std::chrono::milliseconds since(steady_clock::time_point begun) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begun);
}

// Asynchronous background locks that contend again and again, each holding for a while.
class Bulk {
 public:
  Bulk(Client& client, const std::string& monitor, int count, std::chrono::milliseconds hold) : hold_(hold) {
    for (int i = 0; i < count; ++i) {
      locks_.push_back(std::make_unique<AsyncWriteLock>(client, "bulk", monitor, Priority::background));
      contend(*locks_.back());
    }
    thread_ = std::thread([this] { run(); });
  }
  ~Bulk() {
    stop_ = true;
    wake_.notify_all();
    thread_.join();
  }

  std::size_t sections() const {
    const std::lock_guard guard(mutex_);
    return tokens_.size();
  }
  std::vector<std::int64_t> tokens() const {
    const std::lock_guard guard(mutex_);
    return tokens_;
  }

 private:
  void contend(AsyncWriteLock& lock) {
    lock.acquire([this, &lock](std::exception_ptr error) {
      // The destructor tells those that still wait, and then whoever is not released yet.
      if (stop_) return;
      EXPECT_FALSE(error);
      const std::lock_guard guard(mutex_);
      granted_.push_back(&lock);
      wake_.notify_all();
    });
  }
  void run() {
    std::unique_lock guard(mutex_);
    while (true) {
      wake_.wait_for(guard, 10ms, [this] { return stop_ || !granted_.empty(); });
      if (stop_) return;
      if (granted_.empty()) continue;
      AsyncWriteLock& lock = *granted_.front();
      granted_.pop_front();
      tokens_.push_back(lock.fencing_token());
      guard.unlock();
      hold_for(lock, hold_);
      lock.release([this, &lock](std::exception_ptr error) {
        if (stop_) return;
        EXPECT_FALSE(error);
        contend(lock);
      });
      guard.lock();
    }
  }

  const std::chrono::milliseconds hold_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<AsyncWriteLock*> granted_;
  std::vector<std::int64_t> tokens_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
};

class LineTest : public ::testing::TestWithParam<std::string> {
 protected:
  LineTest() {
    ServerOptions options = quick_server();
    options.config_lines.push_back("dataLogDir=" + log_.path().string());
    server_ = std::make_unique<TestServer>(options);
  }
  Settings settings() const {
    return settings_for(server_->connect_string(),
                        {{"zookeeper.session.timeout", "20000"}, {"zookeeper.lock.watch", GetParam()}});
  }
  void foreground_arrivals(Client& bulk_client, Client& client);

  TemporaryDirectory log_;
  std::unique_ptr<TestServer> server_;
};

void LineTest::foreground_arrivals(Client& bulk_client, Client& client) {
  constexpr int waiters = 100;
  constexpr int arrivals = 100;
  std::vector<std::int64_t> urgent;
  std::vector<std::int64_t> bulk_tokens;
  std::vector<std::chrono::milliseconds> waits;
  {
    Bulk bulk(bulk_client, "busy", waiters, 5ms);
    EXPECT_TRUE(wait_until([&] { return server_->counter("zk_ephemerals_count") >= waiters; }));
    BlockingWriteLock lock(client, "urgent", "busy");
    for (int i = 0; i < arrivals; ++i) {
      const auto begun = steady_clock::now();
      lock.lock_with_timeout();
      waits.push_back(since(begun));
      urgent.push_back(lock.fencing_token());
      lock.unlock();
      const auto before = bulk.sections();
      EXPECT_TRUE(wait_until([&] { return bulk.sections() >= before + 2; }));
    }
    bulk_tokens = bulk.tokens();
  }
  EXPECT_TRUE(wait_until_unused(*server_, "busy"));
  const LockHistory history(read_transaction_log(log_.path()), "/busy");
  std::size_t in_front = 0;
  for (const std::int64_t token : urgent) {
    const std::int64_t enqueued = history.enqueued(token);
    EXPECT_GT(enqueued, 0);
    const auto between = std::count_if(bulk_tokens.begin(), bulk_tokens.end(),
                                       [&](std::int64_t other) { return other > enqueued && other < token; });
    EXPECT_EQ(between, 0) << "background sections began while urgent work waited";
    in_front += history.waiting(token, 'B');
  }
  for (const std::int64_t token : bulk_tokens) EXPECT_EQ(history.injustice(token), "");
  std::sort(waits.begin(), waits.end());
  std::cout << GetParam() << ": urgent work behind " << in_front / arrivals << " waiters on average; waited "
            << waits[waits.size() / 2].count() << " ms (median), " << waits[waits.size() - 2].count() << " ms (99 %)\n";
}

TEST_P(LineTest, UrgentWorkOfTheSameProcess) {
  Client client(settings());
  foreground_arrivals(client, client);
}

TEST_P(LineTest, UrgentWorkOfAnotherProcess) {
  Client bulk(settings());
  Client client(settings());
  foreground_arrivals(bulk, client);
}

std::size_t threads_of_this_process() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST_P(LineTest, TenThousandWaiters) {
  constexpr std::size_t count = 10'000;
  Client holder_client(settings());
  BlockingWriteLock holder(holder_client, "hold", "crowded");
  holder.lock_with_timeout();
  Client client(settings());
  ASSERT_TRUE(client.wait_connected(10s));
  const auto threads = threads_of_this_process();
  malloc_trim(0);
  const auto memory = resident_bytes();
  std::vector<std::unique_ptr<AsyncWriteLock>> locks;
  std::atomic<std::size_t> cancelled{0};
  std::atomic<std::size_t> timed_out{0};
  const auto acquire_all = [&](std::chrono::milliseconds timeout) {
    for (const auto& lock : locks) {
      lock->acquire(timeout, [&](std::exception_ptr error) {
        try {
          if (error) std::rethrow_exception(error);
        } catch (const InstanceLockException& refused) {
          ++(refused.code() == ErrorCode::cancelled ? cancelled : timed_out);
        }
      });
    }
  };
  const auto nodes = [&] { return server_->counter("zk_ephemerals_count"); };
  auto begun = steady_clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    locks.push_back(std::make_unique<AsyncWriteLock>(client, "wait", "crowded"));
  }
  acquire_all(10min);
  EXPECT_TRUE(wait_until([&] { return nodes() == static_cast<std::int64_t>(count) + 2; }, 60s)) << nodes();
  const auto growth = resident_bytes() - memory;
  std::cout << GetParam() << ": in the queue after " << since(begun).count() << " ms, memory +" << growth / 1024 / 1024
            << " MiB, " << threads_of_this_process() - threads << " more threads\n";
  EXPECT_LE(threads_of_this_process(), threads);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(growth, 50u * 1024 * 1024);
#endif
  begun = steady_clock::now();
  for (const auto& lock : locks) EXPECT_TRUE(lock->cancel());
  EXPECT_TRUE(wait_until([&] { return cancelled == count; }, 20s)) << cancelled;
  const auto cancelling = since(begun);
  EXPECT_TRUE(wait_until([&] { return nodes() == 2; }, 60s)) << nodes();
  std::cout << GetParam() << ": all cancelled after " << cancelling.count() << " ms, nodes gone after "
            << since(begun).count() << " ms\n";

  constexpr auto timeout = 4s;
  begun = steady_clock::now();
  acquire_all(timeout);
  EXPECT_TRUE(wait_until([&] { return timed_out == count; }, 60s)) << timed_out;
  std::cout << GetParam() << ": time-outs of 4000 ms all told after " << since(begun).count() << " ms\n";
  EXPECT_LE(since(begun), timeout + 10s);
  EXPECT_TRUE(wait_until([&] { return nodes() == 2 && client.statistics().contenders == 0; }, 60s)) << nodes();
  EXPECT_TRUE(holder.healthy());
  holder.unlock();
}

INSTANTIATE_TEST_SUITE_P(Watch, LineTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace forelock::test
