// Sessions that end, networks that fall silent, connections that break: what holders and waiters see of it.
#include "integration/fixture.h"
#include "support/session_killer.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

std::chrono::milliseconds between(steady_clock::time_point from, steady_clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(to - from);
}

// `client_` goes through a proxy, `other_` does not.
class SessionTest : public SharedServerTest<::testing::TestWithParam<std::string>> {
 protected:
  SessionTest()
      : monitor_(::testing::UnitTest::GetInstance()->current_test_info()->name() + std::string()),
        client_(settings(proxy_.connect_string())),
        other_(settings(server_->connect_string())) {
    for (char& letter : monitor_) {
      if (letter == '/') letter = '-';
    }
    EXPECT_TRUE(client_.wait_connected(10s) && other_.wait_connected(10s));
  }

  static Settings settings(const std::string& servers) {
    return settings_for(servers, {{"zookeeper.session.timeout", "2000"}, {"zookeeper.lock.watch", GetParam()}});
  }
  void expire_session() {
    const std::int64_t session = client_.session_id();
    EXPECT_TRUE(end_session("127.0.0.1", server_->port(), session));
    proxy_.cut_connections();
  }
  // The one waiter's node, waited for.
  std::string waiting_node() {
    std::string node;
    EXPECT_TRUE(wait_until([&] {
      const auto view = Inspector(other_).show(monitor_);
      if (!view || view->queue.size() != 1) return false;
      node = view->queue[0].node;
      return true;
    }));
    return node;
  }
  void stall_while_holding(std::initializer_list<TcpProxy::Direction> directions, bool server_still_hears);

  TcpProxy proxy_{server_->port()};
  std::string monitor_;
  Client client_;
  Client other_;
};

TEST_P(SessionTest, ExpiresWhileHolding) {
  BlockingWriteLock lock(client_, "hold", monitor_);
  std::promise<LossReason> told;
  lock.on_lost([&](LossReason reason) { told.set_value(reason); });
  lock.lock_with_timeout();
  const std::stop_token stop = lock.stop_token();
  const std::int64_t session = client_.session_id();
  const auto token = lock.fencing_token();
  expire_session();
  auto reason = told.get_future();
  ASSERT_EQ(reason.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(reason.get(), LossReason::session_expired);
  EXPECT_TRUE(wait_until([&] { return stop.stop_requested(); }));
  EXPECT_FALSE(lock.healthy());
  EXPECT_FALSE(lock.owns_lock());
  EXPECT_EQ(lock.state(), LockState::lost);
  EXPECT_THROW(lock.check_health(), LockUnhealthyException);
  EXPECT_THROW(lock.write_guarded({CreateNode{"/never", ""}}), LockUnhealthyException);
  EXPECT_THROW(lock.unlock_or_throw(), SessionExpiredException);
  EXPECT_EQ(lock.state(), LockState::free);
  lock.lock_with_timeout();  // the same client, in a new session
  EXPECT_NE(client_.session_id(), session);
  EXPECT_GT(lock.fencing_token(), token);
  lock.unlock();
  EXPECT_EQ(client_.statistics().sessions_expired, 1u);
  EXPECT_TRUE(wait_until_unused(*server_, monitor_));
}

TEST_P(SessionTest, ExpiresWhileWaiting) {
  BlockingWriteLock holder(other_, "hold", monitor_, Priority::background);
  holder.lock_with_timeout();
  BlockingWriteLock waiter(client_, "wait", monitor_);
  auto outcome = std::async(std::launch::async, [&] { waiter.lock_with_timeout(); });
  waiting_node();
  const auto begun = steady_clock::now();
  expire_session();
  ASSERT_EQ(outcome.wait_for(10s), std::future_status::ready);
  EXPECT_THROW(outcome.get(), SessionExpiredException);
  std::cout << "the waiter knew after " << between(begun, steady_clock::now()).count() << " ms\n";
  EXPECT_EQ(waiter.state(), LockState::free);
  auto again = std::async(std::launch::async, [&] { waiter.lock_with_timeout(); });
  waiting_node();
  holder.unlock();
  ASSERT_EQ(again.wait_for(10s), std::future_status::ready);
  EXPECT_NO_THROW(again.get());
  waiter.unlock();
  EXPECT_TRUE(wait_until_unused(*server_, monitor_));
}

TEST_P(SessionTest, AReleaseWithoutAnAnswerIsGivenUp) {
  AsyncWriteLock lock(client_, "hold", monitor_);
  std::promise<std::exception_ptr> granted;
  lock.acquire([&](std::exception_ptr error) { granted.set_value(std::move(error)); });
  ASSERT_EQ(granted.get_future().get(), nullptr);
  proxy_.stall(true);
  std::promise<std::exception_ptr> released;
  lock.release([&](std::exception_ptr error) { released.set_value(std::move(error)); });
  auto answer = released.get_future();
  ASSERT_EQ(answer.wait_for(30s), std::future_status::ready) << "the network is silent, and stays so";
  EXPECT_THROW(std::rethrow_exception(answer.get()), ConnectionLossException);
  EXPECT_NE(lock.state(), LockState::held);

  proxy_.stall(false);
  EXPECT_TRUE(wait_until_unused(*server_, monitor_)) << "it goes on in the background";
  std::promise<std::exception_ptr> again;
  EXPECT_TRUE(client_.wait_connected(30s));
  lock.acquire([&](std::exception_ptr error) { again.set_value(std::move(error)); });
  again.get_future().wait();
}

void SessionTest::stall_while_holding(std::initializer_list<TcpProxy::Direction> directions, bool server_still_hears) {
  BlockingWriteLock lock(client_, "hold", monitor_);
  std::promise<steady_clock::time_point> danger;
  std::promise<std::pair<steady_clock::time_point, LossReason>> lost;
  std::once_flag endangered;
  lock.on_danger(500ms, [&] { std::call_once(endangered, [&] { danger.set_value(steady_clock::now()); }); });
  lock.on_lost([&](LossReason reason) { lost.set_value({steady_clock::now(), reason}); });
  lock.lock_with_timeout();
  EXPECT_EQ(lock.state(), LockState::held);
  BlockingWriteLock next(other_, "next", monitor_);
  auto granted = std::async(std::launch::async, [&] {
    next.lock_with_timeout();
    return steady_clock::now();
  });
  waiting_node();

  for (const auto direction : directions) proxy_.stall(direction, true);
  std::optional<steady_clock::time_point> suspect;
  steady_clock::time_point last_healthy;
  EXPECT_TRUE(wait_until([&] {
    const auto now = steady_clock::now();
    if (!lock.healthy()) return true;
    last_healthy = now;
    if (!suspect && lock.state() == LockState::suspect) suspect = now;
    return false;
  }));
  EXPECT_EQ(lock.state(), LockState::lost);
  if (server_still_hears) proxy_.stall(false);  // each attempt to connect keeps the session alive
  ASSERT_EQ(granted.wait_for(30s), std::future_status::ready);
  const auto margin = between(last_healthy, granted.get());
  EXPECT_GT(margin, 0ms);
  EXPECT_TRUE(suspect);
  auto endanger = danger.get_future();
  auto loss = lost.get_future();
  ASSERT_EQ(endanger.wait_for(10s), std::future_status::ready);
  ASSERT_EQ(loss.wait_for(10s), std::future_status::ready);
  const auto [when, why] = loss.get();
  EXPECT_LT(endanger.get(), when);
  EXPECT_EQ(why, LossReason::deadline_passed);
  EXPECT_THROW(lock.check_health(), LockUnhealthyException);
  std::cout << "not healthy " << margin.count() << " ms before the next was granted\n";

  proxy_.stall(false);
  EXPECT_THROW(lock.unlock_or_throw(), Error);
  next.unlock();
  // A request that was on its way meanwhile may still cost the first attempt.
  EXPECT_TRUE(wait_until(
      [&] {
        try {
          return lock.try_lock_for(10s);
        } catch (const Error& problem) {
          EXPECT_TRUE(problem.retryable()) << problem.what();
          return false;
        }
      },
      30s));
  EXPECT_TRUE(lock.healthy());
  lock.unlock();
  EXPECT_TRUE(wait_until_unused(*server_, monitor_));
}

TEST_P(SessionTest, NetworkFallsSilent) {
  stall_while_holding({TcpProxy::Direction::to_server, TcpProxy::Direction::to_client}, false);
}
TEST_P(SessionTest, NetworkFallsSilentTowardsTheServer) {
  stall_while_holding({TcpProxy::Direction::to_server}, false);
}
TEST_P(SessionTest, NetworkFallsSilentTowardsTheClient) {
  stall_while_holding({TcpProxy::Direction::to_client}, true);
}

TEST_P(SessionTest, ShortCutsChangeNothing) {
  BlockingWriteLock holder(client_, "hold", monitor_);
  holder.on_lost([](LossReason reason) { ADD_FAILURE() << "lost: " << name_of(reason); });
  holder.lock_with_timeout();
  TcpProxy second_way(server_->port());
  Client second(settings(second_way.connect_string()));
  BlockingWriteLock waiter(second, "wait", monitor_);
  auto granted = std::async(std::launch::async, [&] { waiter.lock_with_timeout(); });
  const std::string node = waiting_node();
  for (unsigned i = 0; i < 3; ++i) {
    proxy_.refuse(true);
    proxy_.cut_connections();
    EXPECT_TRUE(wait_until([&] { return holder.state() != LockState::held; }));
    EXPECT_EQ(holder.state(), LockState::suspect);
    EXPECT_TRUE(holder.healthy());
    proxy_.refuse(false);
    EXPECT_TRUE(wait_until([&] { return holder.state() == LockState::held; }));
    second_way.cut_connections();
    EXPECT_TRUE(wait_until([&] { return second.connected() && second.statistics().disconnections == i + 1u; }));
  }
  EXPECT_EQ(waiting_node(), node) << "the waiter has lost its place";
  holder.unlock();
  ASSERT_EQ(granted.wait_for(20s), std::future_status::ready);
  granted.get();
  waiter.unlock();
  EXPECT_EQ(client_.statistics().sessions_expired, 0u);
  EXPECT_TRUE(wait_until_unused(*server_, monitor_));
}

INSTANTIATE_TEST_SUITE_P(Watch, SessionTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace forelock::test
