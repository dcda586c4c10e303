// The list of cases that every language of this library passes (tests/cases.txt), in C++.
#include "integration/fixture.h"
#include "support/session_killer.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr auto patience = 30s;

template <class Call>
std::optional<ErrorCode> code_of(Call&& call) {
  try {
    call();
    return std::nullopt;
  } catch (const Error& error) {
    return error.code();
  }
}

template <class T>
T soon(std::future<T> future) {
  if (future.wait_for(patience) != std::future_status::ready) throw std::runtime_error("it does not come");
  return future.get();
}

class Cases : public SharedServerTest<> {
 protected:
  Settings settings(const std::string& linger = "0") {
    return settings_for(proxy_.connect_string(), {{"zookeeper.lock.linger", linger}});
  }
  std::future<LossReason> loss_of(WriteLock& lock) {
    auto told = std::make_shared<std::promise<LossReason>>();
    lock.on_lost([told](LossReason reason) { told->set_value(reason); });
    return told->get_future();
  }
  static std::future<QueuePosition> first_place_of(WriteLock& lock) {
    auto told = std::make_shared<std::promise<QueuePosition>>();
    auto once = std::make_shared<std::once_flag>();
    lock.on_queued([told, once](const QueuePosition& now) { std::call_once(*once, [&] { told->set_value(now); }); });
    return told->get_future();
  }
  // What an acquisition in a thread of its own ended with; it waits when this returns.
  std::future<std::optional<ErrorCode>> waiting(BlockingWriteLock& lock) {
    auto result = std::async(std::launch::async, [&lock] { return code_of([&] { lock.lock(); }); });
    EXPECT_TRUE(wait_until([&] {
      const auto view = Inspector(client_).show(monitor_);
      std::size_t of_this_class = 0;
      if (view) {
        for (const WaiterView& waiter : view->queue) of_this_class += waiter.priority == lock.priority() ? 1u : 0u;
      }
      return of_this_class == 1;
    }));
    return result;
  }

  TcpProxy proxy_{server_->port()};
  const std::string monitor_ = testing::UnitTest::GetInstance()->current_test_info()->name();
  Client client_{settings()};
  BlockingWriteLock lock_{client_, "case", monitor_};
};

TEST_F(Cases, blocking) {
  EXPECT_FALSE(lock_.healthy());
  EXPECT_EQ(lock_.state(), LockState::free);
  lock_.lock();
  EXPECT_TRUE(lock_.healthy());
  lock_.check_health();
  const auto token = lock_.fencing_token();
  EXPECT_GT(token, 0);
  EXPECT_GT(lock_.expires_at(), std::chrono::steady_clock::now());
  EXPECT_EQ(lock_.state(), LockState::held);
  EXPECT_EQ(lock_.owner().lock_info, "case");
  EXPECT_EQ(code_of([&] { lock_.lock(); }), ErrorCode::already_held);
  lock_.unlock_or_throw();
  EXPECT_FALSE(lock_.owns_lock());
  EXPECT_EQ(code_of([&] { lock_.check_health(); }), ErrorCode::lock_unhealthy);
  EXPECT_EQ(code_of([&] { lock_.unlock_or_throw(); }), ErrorCode::not_held);
  EXPECT_TRUE(wait_until([&] { return client_.statistics().contenders == 0; }));
  EXPECT_TRUE(lock_.try_lock());
  EXPECT_GT(lock_.fencing_token(), token);
}

TEST_F(Cases, held_header) {
  BlockingWriteLock lock(client_, "case", "Gr\u00f6\u00dfe/1, 2=3%");
  LockSet set(client_, "case", {"P 2", "P1", monitor_});
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.held_header()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(set.held_header()); }), ErrorCode::invalid_argument);
  lock.lock();
  EXPECT_EQ(lock.held_header(), "Gr%C3%B6%C3%9Fe%2F1%2C%202%3D3%25=" + std::to_string(lock.fencing_token()));
  set.lock();
  EXPECT_EQ(set.held_header(), "P%202=" + std::to_string(set.fencing_token("P 2")) +
                                   ", P1=" + std::to_string(set.fencing_token("P1")) + ", " + monitor_ + '=' +
                                   std::to_string(set.fencing_token(monitor_)));
}

TEST_F(Cases, timed_out) {
  lock_.lock();
  Client client(settings_for(proxy_.connect_string(), {{"zookeeper.foregound.task.timeout", "300"}}));
  ASSERT_TRUE(client.wait_connected(patience));
  BlockingWriteLock waiter(client, "waiter", monitor_);
  try {
    waiter.lock_with_timeout();
    ADD_FAILURE() << "obtained a lock that is held";
  } catch (const InstanceLockException& refused) {
    EXPECT_EQ(refused.code(), ErrorCode::lock_timeout);
    EXPECT_EQ(refused.monitor(), monitor_);
    EXPECT_TRUE(refused.retryable());
    EXPECT_FALSE(refused.hint().empty());
    EXPECT_NE(std::string(refused.what()).find("; held by "), std::string::npos) << refused.what();
    EXPECT_NE(std::string(refused.what()).find(" for \"case\""), std::string::npos) << refused.what();
  }
  EXPECT_FALSE(waiter.try_lock());
}

TEST_F(Cases, cancelled) {
  lock_.lock();
  BlockingWriteLock waiter(client_, "waiter", monitor_);
  EXPECT_FALSE(waiter.cancel());
  auto cancelled = waiting(waiter);
  EXPECT_TRUE(waiter.cancel());
  EXPECT_EQ(soon(std::move(cancelled)), ErrorCode::cancelled);
  EXPECT_EQ(waiter.state(), LockState::free);
}

TEST_F(Cases, foreground_first) {
  lock_.lock();
  BlockingWriteLock background(client_, "bulk", monitor_, Priority::background);
  BlockingWriteLock foreground(client_, "save", monitor_, Priority::foreground);
  auto second = waiting(background);
  auto first = waiting(foreground);
  lock_.unlock_or_throw();
  EXPECT_EQ(soon(std::move(first)), std::nullopt);
  EXPECT_EQ(background.state(), LockState::waiting);
  foreground.unlock_or_throw();
  EXPECT_EQ(soon(std::move(second)), std::nullopt);
}

TEST_F(Cases, priority_set) {
  lock_.lock();
  EXPECT_FALSE(lock_.set_priority(Priority::background));
  EXPECT_EQ(lock_.priority(), Priority::foreground);
  BlockingWriteLock bulk(client_, "bulk", monitor_, Priority::background);
  auto last = waiting(bulk);
  BlockingWriteLock moved(client_, "moved", monitor_);
  EXPECT_TRUE(moved.set_priority(Priority::background)) << "it is free";
  LockSet set(client_, "moved", {monitor_, monitor_ + "+"}, Priority::background);
  std::atomic<std::size_t> lock_place = 0;
  std::atomic<std::size_t> set_place = 0;
  moved.on_queued([&](const QueuePosition& now) { lock_place = now.place; });
  set.on_queued([&](const QueuePosition& now, const std::string&) { set_place = now.place; });
  auto first = std::async(std::launch::async, [&] { return code_of([&] { moved.lock(); }); });
  EXPECT_TRUE(wait_until([&] { return lock_place == 2; }));
  auto second = std::async(std::launch::async, [&] { return code_of([&] { set.lock(); }); });
  EXPECT_TRUE(wait_until([&] { return set_place == 3; }));

  EXPECT_TRUE(moved.set_priority(Priority::foreground));
  EXPECT_TRUE(wait_until([&] { return lock_place == 1; }));
  EXPECT_TRUE(set.set_priority(Priority::foreground));
  EXPECT_TRUE(wait_until([&] { return set_place == 2; }));
  EXPECT_EQ(moved.owner().priority, Priority::foreground);
  EXPECT_EQ(set.owner().priority, Priority::foreground);
  const auto view = Inspector(client_).show(monitor_);
  ASSERT_TRUE(view && view->queue.size() == 3 && view->queue.front().owner);
  EXPECT_EQ(view->queue.front().owner->priority, Priority::foreground);
  EXPECT_EQ(view->queue.front().owner->rank, std::nullopt);

  lock_.unlock_or_throw();
  EXPECT_EQ(soon(std::move(first)), std::nullopt);
  moved.unlock_or_throw();
  EXPECT_EQ(soon(std::move(second)), std::nullopt);
  EXPECT_EQ(bulk.state(), LockState::waiting);
  EXPECT_FALSE(set.set_priority(Priority::background));
  set.unlock_or_throw();
  EXPECT_EQ(soon(std::move(last)), std::nullopt);
}

TEST_F(Cases, queue_max) {
  lock_.lock();
  BlockingWriteLock waits(client_, "waits", monitor_);
  auto waited = waiting(waits);
  BlockingWriteLock refused(client_, "refused", monitor_, Priority::foreground, {.queue_max = 1});
  EXPECT_EQ(code_of([&] { refused.lock(); }), ErrorCode::lock_refused);
  lock_.unlock_or_throw();
  EXPECT_EQ(soon(std::move(waited)), std::nullopt);
}

// What the background waits for inside of a lock that the foreground waits for.
TEST_F(Cases, lock_inside) {
  lock_.lock();
  BlockingWriteLock outer(client_, "bulk", monitor_ + "+", Priority::background);
  outer.lock();
  BlockingWriteLock bulk(client_, "bulk", monitor_, Priority::background);
  auto last = waiting(bulk);
  BlockingWriteLock inner(client_, "inner", monitor_, Priority::background);
  inner.inside(outer);
  std::atomic<std::size_t> place = 0;
  inner.on_queued([&](const QueuePosition& now) { place = now.place; });
  auto first = std::async(std::launch::async, [&] { return code_of([&] { inner.lock(); }); });
  EXPECT_TRUE(wait_until([&] { return place == 2; }));
  BlockingWriteLock save(client_, "save", monitor_ + "+");
  auto saved = std::async(std::launch::async, [&] { return code_of([&] { save.lock(); }); });
  EXPECT_TRUE(wait_until([&] { return place == 1; }));
  EXPECT_EQ(inner.owner().priority, Priority::background);
  BlockingWriteLock later(client_, "later", monitor_);
  auto second = waiting(later);

  lock_.unlock_or_throw();
  EXPECT_EQ(soon(std::move(first)), std::nullopt);
  EXPECT_EQ(later.state(), LockState::waiting);
  inner.unlock_or_throw();
  outer.unlock_or_throw();
  EXPECT_EQ(soon(std::move(saved)), std::nullopt);
  EXPECT_EQ(soon(std::move(second)), std::nullopt);
  later.unlock_or_throw();
  EXPECT_EQ(soon(std::move(last)), std::nullopt);

  Client other(settings());
  BlockingWriteLock foreign(other, "other", monitor_);
  EXPECT_EQ(code_of([&] { inner.inside(foreign); }), ErrorCode::invalid_argument);
}

TEST_F(Cases, lost_by_a_stall) {
  auto lost = loss_of(lock_);
  lock_.lock();
  proxy_.stall(true);
  EXPECT_EQ(soon(std::move(lost)), LossReason::deadline_passed);
  EXPECT_FALSE(lock_.healthy());
  EXPECT_EQ(lock_.state(), LockState::lost);
  EXPECT_EQ(code_of([&] { lock_.check_health(); }), ErrorCode::lock_unhealthy);
  proxy_.stall(false);
  EXPECT_EQ(code_of([&] { lock_.unlock_or_throw(); }), ErrorCode::no_node);
}

TEST_F(Cases, removed) {
  auto lost = loss_of(lock_);
  lock_.lock();
  const std::stop_token stop = lock_.stop_token();
  Client admin(settings());
  Inspector inspector(admin);
  const auto view = inspector.show(monitor_);
  ASSERT_TRUE(view && view->holder && view->holder->node);
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_EQ(inspector.force_release(monitor_, *view->holder->node), ForceReleaseResult::released);
  EXPECT_EQ(soon(std::move(lost)), LossReason::removed);
  EXPECT_TRUE(wait_until([&] { return stop.stop_requested(); }));
  EXPECT_EQ(code_of([&] { lock_.check_health(); }), ErrorCode::lock_unhealthy);
  EXPECT_EQ(code_of([&] { lock_.unlock_or_throw(); }), ErrorCode::no_node);
}

TEST_F(Cases, expired) {
  auto lost = loss_of(lock_);
  lock_.lock();
  EXPECT_TRUE(end_session("127.0.0.1", server_->port(), client_.session_id()));
  proxy_.cut_connections();
  EXPECT_EQ(soon(std::move(lost)), LossReason::session_expired);
  EXPECT_EQ(code_of([&] { lock_.unlock_or_throw(); }), ErrorCode::session_expired);
  lock_.lock();  // in a new session
  EXPECT_TRUE(lock_.healthy());
}

TEST_F(Cases, closed) {
  Client client(settings());
  BlockingWriteLock lock(client, "case", monitor_);
  BlockingWriteLock waiter(client, "waiter", monitor_, Priority::background);
  auto lost = loss_of(lock);
  lock.lock();
  auto refused = waiting(waiter);
  client.close();
  EXPECT_EQ(soon(std::move(lost)), LossReason::closed);
  EXPECT_EQ(soon(std::move(refused)), ErrorCode::closed);
  EXPECT_FALSE(lock.healthy());
  EXPECT_EQ(code_of([&] { lock.unlock_or_throw(); }), ErrorCode::no_node);
  EXPECT_EQ(code_of([&] { lock.lock(); }), ErrorCode::closed);
}

TEST_F(Cases, guarded_write) {
  lock_.lock();
  const std::vector<WriteOperation> writes{CreateNode{"/data", "a"}, SetNode{"/data", "bc", 0}};
  EXPECT_EQ(lock_.write_guarded(writes).at(1).version, 1);
  const std::vector<WriteOperation> missing{SetNode{"/missing", "x"}};  // whose no_node is not that of a lost lock
  for (const auto& refused : {writes, missing})
    EXPECT_EQ(code_of([&] { lock_.write_guarded(refused); }), ErrorCode::write_conflict);
  EXPECT_TRUE(lock_.healthy());
  lock_.unlock_or_throw();
  EXPECT_EQ(code_of([&] { lock_.write_guarded(writes); }), ErrorCode::lock_unhealthy);
}

TEST_F(Cases, own_grant) {
  Client client(settings("60000"));
  BlockingWriteLock lock(client, "case", monitor_);
  lock.lock();
  EXPECT_EQ(lock.owner().linger, 60s);
  lock.unlock_or_throw();
  BlockingWriteLock own(client, "own", monitor_, Priority::foreground, {.may_linger = false});
  own.lock();
  EXPECT_GT(own.fencing_token(), lock.fencing_token());
  EXPECT_FALSE(own.owner().linger);
  own.unlock_or_throw();
  EXPECT_EQ(client.statistics().lingering, 0u);
  EXPECT_EQ(client.statistics().taken_again, 0u);
}

TEST_F(Cases, expected_wait) {
  lock_.lock();
  std::vector<std::unique_ptr<BlockingWriteLock>> line;
  std::vector<std::future<std::optional<ErrorCode>>> ends;
  for (int i = 0; i < 20; ++i) {
    BlockingWriteLock& lock = *line.emplace_back(std::make_unique<BlockingWriteLock>(client_, "line", monitor_));
    auto place = first_place_of(lock);
    ends.push_back(std::async(std::launch::async, [&lock] {
      return code_of([&] {
        lock.lock();
        lock.unlock_or_throw();
      });
    }));
    EXPECT_FALSE(soon(std::move(place)).expected_wait) << "nothing is known yet";
  }
  lock_.unlock_or_throw();
  for (auto& end : ends) EXPECT_EQ(soon(std::move(end)), std::nullopt);
  lock_.lock();
  BlockingWriteLock next(client_, "next", monitor_);
  auto place = first_place_of(next);
  auto end = std::async(std::launch::async, [&next] { return code_of([&] { next.lock(); }); });
  EXPECT_TRUE(soon(std::move(place)).expected_wait);
  lock_.unlock_or_throw();
  EXPECT_EQ(soon(std::move(end)), std::nullopt);
}

TEST_F(Cases, holder_token) {
  Client other(settings());
  Inspector reader(other);
  EXPECT_EQ(reader.holder_token(monitor_, 1min).token, 0);
  lock_.lock();
  EXPECT_FALSE(reader.known_holder_token(monitor_, 1min));
  EXPECT_EQ(reader.holder_token(monitor_, 1min).token, lock_.fencing_token());
  const auto before = other.statistics().requests;
  EXPECT_EQ(reader.known_holder_token(monitor_, 1min).value().token, lock_.fencing_token());
  EXPECT_EQ(reader.holder_token(monitor_, 1min).token, lock_.fencing_token());
  EXPECT_EQ(other.statistics().requests, before);
  EXPECT_FALSE(reader.known_holder_token(monitor_, 0ms));
  lock_.unlock_or_throw();
  EXPECT_TRUE(wait_until([&] { return !reader.known_holder_token(monitor_, 1min); }));
  lock_.lock();
  EXPECT_EQ(reader.holder_token(monitor_, 1min).token, lock_.fencing_token());
  proxy_.cut_connections();
  EXPECT_TRUE(wait_until([&] { return !reader.known_holder_token(monitor_, 1min); })) << "another connection";
  EXPECT_EQ(reader.holder_token(monitor_, 1min).token, lock_.fencing_token());
  proxy_.stall(true);
  EXPECT_TRUE(wait_until([&] { return !reader.known_holder_token(monitor_, 1s); })) << "it gets old";
  proxy_.stall(false);
}

TEST_F(Cases, identity) {
  // All at once, and none has asked before.
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(std::make_unique<Client>(settings()));
  std::vector<std::future<std::string>> asked;
  asked.reserve(clients.size());
  for (const auto& client : clients) {
    asked.push_back(std::async(std::launch::async, [&client] { return Inspector(*client).identity(); }));
  }
  const std::string identity = soon(std::move(asked.front()));
  EXPECT_FALSE(identity.empty());
  for (std::size_t i = 1; i < asked.size(); ++i) EXPECT_EQ(soon(std::move(asked[i])), identity);
  Client other(settings_for(proxy_.connect_string() + "/other"));
  EXPECT_NE(Inspector(other).identity(), identity);
  for (const MonitorSummary& seen : Inspector(client_).list(true))
    EXPECT_EQ(seen.monitor.find("forelock-"), std::string::npos);
}

}  // namespace
}  // namespace forelock::test
