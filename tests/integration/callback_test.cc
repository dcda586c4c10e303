// Callbacks that block, end what they should not, or come when their lock object has gone.
#include "integration/fixture.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr auto session_timeout = 2s;

// Something that blocks until the test ends, or lets it go on.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    if (!opened_.exchange(true)) promise_.set_value();
  }
  void pass() {
    ++arrived_;
    future_.wait();
  }
  bool reached() const { return arrived_ > 0; }

 private:
  std::atomic<bool> opened_{false};
  std::atomic<int> arrived_{0};
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
};

class CallbackTest : public SharedServerTest<> {
 protected:
  static Settings settings(const std::string& servers) {
    return settings_for(servers, {{"zookeeper.session.timeout", "2000"}});
  }
  std::vector<std::string> lines() {
    const std::lock_guard guard(lines_mutex_);
    return lines_;
  }
  void acquire(AsyncWriteLock& lock) {
    std::promise<std::exception_ptr> granted;
    lock.acquire([&](std::exception_ptr error) { granted.set_value(std::move(error)); });
    ASSERT_EQ(granted.get_future().get(), nullptr);
  }
  // Heartbeats are sent and answered: nothing else moves the deadline of an idle holder so far.
  static void expect_held_for_long(const WriteLock& lock) {
    const auto begun = steady_clock::now();
    EXPECT_TRUE(wait_until([&] { return lock.expires_at() > begun + 5 * session_timeout / 2; }, 10s));
    EXPECT_TRUE(lock.healthy());
    EXPECT_EQ(lock.state(), LockState::held);
  }

  TcpProxy proxy_{server_->port()};
  std::mutex lines_mutex_;
  std::vector<std::string> lines_;
  Gate log_;
  bool log_blocks_ = false;
  std::unique_ptr<Client> client_ =
      std::make_unique<Client>(settings(proxy_.connect_string()), [this](std::string_view, std::string_view line) {
        if (log_blocks_) log_.pass();
        const std::lock_guard guard(lines_mutex_);
        lines_.emplace_back(line);
      });
};

TEST_F(CallbackTest, ThatBlocksCostsNoLockAndIsNamedWhileItDoes) {
  Gate gate;
  BlockingWriteLock holder(*client_, "hold", "held");
  holder.on_lost([](LossReason reason) { ADD_FAILURE() << name_of(reason); });
  holder.lock_with_timeout();
  AsyncWriteLock slow(*client_, "block", "slow");
  slow.acquire([&](std::exception_ptr) { gate.pass(); });
  ASSERT_TRUE(wait_until([&] { return gate.reached(); }));
  EXPECT_TRUE(wait_until([&] {
    for (const std::string& line : lines()) {
      if (line.find("slow callback: the callback of acquire() of the lock on slow") != std::string::npos) return true;
    }
    return false;
  })) << "it blocks still";
  expect_held_for_long(holder);
  gate.open();
}

TEST_F(CallbackTest, ThatBlocksDoesNotHideALoss) {
  Gate gate;
  BlockingWriteLock holder(*client_, "hold", "lost");
  holder.lock_with_timeout();
  const std::stop_token stop = holder.stop_token();
  AsyncWriteLock slow(*client_, "block", "slow-too");
  slow.acquire([&](std::exception_ptr) { gate.pass(); });
  ASSERT_TRUE(wait_until([&] { return gate.reached(); }));
  log_blocks_ = true;
  proxy_.stall(true);
  EXPECT_TRUE(wait_until([&] { return !holder.healthy(); }));
  EXPECT_TRUE(wait_until([&] { return stop.stop_requested(); }, 500ms));
  EXPECT_FALSE(holder.owns_lock());
  log_.open();
  gate.open();
}

TEST_F(CallbackTest, ALogSinkThatBlocksCostsNoLock) {
  log_blocks_ = true;
  BlockingWriteLock holder(*client_, "hold", "logged");
  holder.lock_with_timeout();
  AsyncWriteLock thrower(*client_, "throw", "thrower");
  thrower.acquire([](std::exception_ptr) { throw std::runtime_error("on purpose"); });
  ASSERT_TRUE(wait_until([&] { return log_.reached(); }));
  expect_held_for_long(holder);
  log_.open();
  EXPECT_TRUE(wait_until([&] { return !lines().empty(); }));
  EXPECT_THAT(lines(), Contains(HasSubstr("the callback of acquire() of the lock on thrower has thrown: on purpose")));
}

TEST_F(CallbackTest, AStopCallbackThatBlocksCostsNoLockAndHoldsNoOtherCallbackUp) {
  Gate gate;
  BlockingWriteLock victim(*client_, "hold", "victim");
  std::promise<LossReason> told;
  victim.on_lost([&](LossReason reason) { told.set_value(reason); });
  victim.lock_with_timeout();
  const std::stop_callback blocks(victim.stop_token(), [&] { gate.pass(); });
  BlockingWriteLock holder(*client_, "hold", "beside");
  holder.lock_with_timeout();
  Client admin(settings(server_->connect_string()));
  Inspector inspector(admin);
  const auto view = inspector.show("victim");
  ASSERT_TRUE(view && view->holder && view->holder->node);
  ASSERT_EQ(inspector.force_release("victim", *view->holder->node), ForceReleaseResult::released);
  EXPECT_EQ(told.get_future().get(), LossReason::removed);
  ASSERT_TRUE(wait_until([&] { return gate.reached(); }));
  EXPECT_TRUE(wait_until([&] {
    for (const std::string& line : lines()) {
      if (line.find("slow callback: a stop callback of the lock on victim") != std::string::npos) return true;
    }
    return false;
  }));
  expect_held_for_long(holder);
  gate.open();
}

TEST_F(CallbackTest, CloseIsRefusedInACallback) {
  AsyncWriteLock lock(*client_, "close", "closes");
  std::promise<std::string> answer;
  lock.acquire([&](std::exception_ptr) {
    try {
      client_->close();
      answer.set_value("closed");
    } catch (const RequestRejectedException& refused) {
      answer.set_value(std::string(name_of(refused.code())));
    }
  });
  EXPECT_EQ(answer.get_future().get(), "invalid_argument");
  EXPECT_TRUE(lock.healthy());
}

TEST_F(CallbackTest, TheClientMayBeDestroyedInACallback) {
  ASSERT_TRUE(client_->wait_connected(10s));
  std::ostringstream session;
  session << "0x" << std::hex << client_->session_id();
  auto lock = std::make_unique<AsyncWriteLock>(*client_, "end", "ends");
  std::promise<void> destroyed;
  lock->acquire([&](std::exception_ptr) {
    lock.reset();
    client_.reset();
    destroyed.set_value();
  });
  destroyed.get_future().get();
  EXPECT_TRUE(wait_until([&] {
    return server_->four_letter("dump").value_or(session.str()).find(session.str()) == std::string::npos;
  })) << "the session goes on";
}

// Its turn comes when the lock object has gone.
TEST_F(CallbackTest, ThatWaitsBehindAnotherIsNotCalledWhenItsLockObjectHasGone) {
  Client other(settings(server_->connect_string()));
  BlockingWriteLock elsewhere(other, "hold", "waited-for");
  elsewhere.lock_with_timeout();
  Gate gate;
  AsyncWriteLock slow(*client_, "block", "slow-three");
  slow.acquire([&](std::exception_ptr) { gate.pass(); });
  ASSERT_TRUE(wait_until([&] { return gate.reached(); }));
  auto waiter = std::make_unique<AsyncWriteLock>(*client_, "wait", "waited-for");
  waiter->on_queued([](const QueuePosition&) { ADD_FAILURE() << "the lock object is gone"; });
  int answers = 0;
  waiter->acquire([&](std::exception_ptr) { ++answers; });
  EXPECT_TRUE(wait_until([&] {
    const auto view = Inspector(other).show("waited-for");
    return view && view->queue.size() == 1;
  }));
  auto victim = std::make_unique<BlockingWriteLock>(*client_, "hold", "gone");
  victim->on_lost([](LossReason) { ADD_FAILURE() << "the lock object is gone"; });
  victim->lock_with_timeout();
  const auto view = Inspector(other).show("gone");
  ASSERT_TRUE(view && view->holder && view->holder->node);
  Inspector(other).force_release("gone", *view->holder->node);
  EXPECT_TRUE(wait_until([&] { return !victim->owns_lock(); }));
  waiter.reset();
  victim.reset();
  EXPECT_EQ(answers, 1);
  gate.open();
  AsyncWriteLock last(*client_, "last", "last");
  acquire(last);  // what was posted before has been run, or left out
}

}  // namespace
}  // namespace forelock::test
