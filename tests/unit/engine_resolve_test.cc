// What the engine concludes from what it finds on the server after a lost reply.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

using namespace coordination;

class EngineResolveTest : public EngineTest {
 protected:
  void answer_that_nothing_is_there() {
    const Request& request = output_.sent.front().request;
    if (is_heartbeat(request)) {
      answer_heartbeat({});
    } else if (std::holds_alternative<List>(request)) {
      answer<List>(listing({}, 3));
    } else {
      answer<Get>(failure(ReplyCode::no_node));
    }
  }
};

// How many of these would make a node of the contender with this guid.
std::ptrdiff_t creates_of(const std::deque<Sent>& sent, const std::string& guid) {
  const auto makes_node = [&](const auto& operation) {
    const auto* create = std::get_if<Create>(&operation);
    return create != nullptr && create->data == guid && create->mode == CreateMode::ephemeral_sequential;
  };
  return std::count_if(sent.begin(), sent.end(), [&](const Sent& one) {
    const auto* transaction = std::get_if<Transaction>(&one.request);
    if (transaction == nullptr) return makes_node(one.request);
    return std::any_of(transaction->operations.begin(), transaction->operations.end(), makes_node);
  });
}

// The lock is removed first, and the contender begins when that is answered: if it began before as well, it would have
// two nodes (fuzzing).
TEST_F(EngineResolveTest, WhoIsNamedByALockWithoutANodeBeginsOnce) {
  acquire(1, Priority::foreground);
  answers<Create, Transaction, Get>({}, failure(ReplyCode::connection_loss), {});
  now_ = engine_.next_timer();
  engine_.tick(now_);
  acquire(2, Priority::foreground);
  answer_heartbeat({});
  answers<List, Get>({}, node("guid2", our_session));
  EXPECT_EQ(answer<Delete>({}).path, "/P/privateLock");
  EXPECT_EQ(creates_of(output_.sent, "guid2"), 1);
}

// A claim is confirmed while the outcome of another request has yet to be found out, and the session is not proved
// alive in time. By the time it is, the lock has gone (fuzzing).
TEST_F(EngineResolveTest, AGrantThatWaitsForTheSessionWaitsForTheResolvingToo) {
  acquire(1, Priority::foreground, std::chrono::hours(1));
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
  Reply created;
  created.path = "/P/A-0000000002";
  answers<Create, List, Get>(created, listing({"A-0000000000", "privateLock", "A-0000000002"}, 3), {});
  acquire(2, Priority::foreground, std::chrono::hours(1));
  const Sent enqueueing = output_.sent.front();
  output_.sent.pop_front();
  answer<List>(listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  engine_.on_watch({WatchEvent::Kind::deleted, "/P/A-0000000000"}, now_);
  now_ += std::chrono::minutes(1);  // nothing that is answered now proves a living session
  ASSERT_TRUE(std::holds_alternative<Create>(enqueueing.request));
  engine_.on_reply(enqueueing.tag, failure(ReplyCode::server_error), now_);
  answer<Transaction>(claimed("", 100));
  ASSERT_TRUE(output_.grants.empty());
  while (engine_.state(1) != ContenderState::enqueueing) {  // anew
    if (output_.sent.empty()) wait();
    answer_that_nothing_is_there();
  }
  output_.sent.clear();
  for (int beats = 0; beats < 4; ++beats) {
    while (output_.sent.empty()) wait();
    answer_heartbeat({});
  }
  EXPECT_TRUE(output_.grants.empty());
}

// A waiter never claimed, but its record stands in privateLock, and its node is gone (fuzzing).
TEST_F(EngineResolveTest, AWaiterThatIsNamedByALockWithoutANodeBeginsAnewWhenThatIsRemoved) {
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  answer<Get>({});
  reconnect();
  answers<Get, List, Get>({}, listing({"privateLock"}, 4), node("guid1", our_session));
  EXPECT_EQ(engine_.state(1), ContenderState::resolving);
  EXPECT_EQ(answer<Delete>({}).path, "/P/privateLock");
  EXPECT_EQ(creates_of(output_.sent, "guid1"), 1);
}

// Its node is there, but an administrator has removed the lock. A member of a set that waited here would wait out of
// order (simulated sets).
TEST_F(EngineResolveTest, ASingleAttemptThatHasANodeAndNoLockDoesNotWait) {
  AcquireSpec once = spec_of(1, Priority::foreground);
  once.try_once = true;
  engine_.acquire(1, std::move(once), now_);
  answers<Create, Transaction, Get>({}, failure(ReplyCode::server_error), {});
  now_ = engine_.next_timer();
  engine_.tick(now_);
  while (!output_.sent.empty() && output_.refusals.empty()) {
    const Request& request = output_.sent.front().request;
    if (is_heartbeat(request)) {
      answer_heartbeat({});
    } else if (std::holds_alternative<List>(request)) {
      answer<List>(listing({"A-0000000000"}, 3));
    } else {
      const bool lock = std::get<Get>(request).path == "/P/privateLock";
      answer<Get>(lock ? failure(ReplyCode::no_node) : node("guid1", our_session));
    }
  }
  expect_refused(RefusalReason::unavailable);
  EXPECT_EQ(answer<Delete>({}).path, "/P/A-0000000000");
  EXPECT_EQ(engine_.contenders(), 0u);
}

// Somebody has written the other one's record into privateLock: for no moment do both hold (fuzzing).
TEST_F(EngineResolveTest, WhoHasLostTheLockHearsOfItBeforeTheNextOneIsGrantedIt) {
  engine_.acquire(1, spec_of(1, Priority::background), now_);
  answers<Create, Transaction, Get>({}, claimed("B-0000000000", 100), monitor(2, 2, 100));
  engine_.acquire(2, spec_of(2, Priority::foreground), now_);
  Reply created;
  created.path = "/P/A-0000000002";
  answer<Create>(created);
  ASSERT_TRUE(engine_.step_aside(1, now_ + std::chrono::seconds(10), now_));
  answers<Transaction, List, Transaction>({}, listing({"B-0000000000", "A-0000000002"}, 3), claimed("", 200));
  ASSERT_EQ(output_.grants.size(), 2u);
  output_.sent.clear();
  reconnect();
  answers<Get, List>({}, listing({"B-0000000000", "A-0000000002", "privateLock"}, 4));
  EXPECT_EQ(answer<Get>(node("guid1", our_session)).path, "/P/B-0000000000");
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/A-0000000002");
  answer<Get>(node("guid1", our_session));
  ASSERT_EQ(output_.grants.size(), 3u);
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
  EXPECT_EQ(output_.losses_before_last_grant, 1u);
}

// The monitor has been made anew, and another process has a node of the name that one of ours had in the former one.
TEST_F(EngineResolveTest, NothingIsProvedWhileItIsUnknownWhichNodesAreOurs) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  while (!output_.sent.empty()) answer<List>(listing({"A-0000000002", "privateLock"}, 4));
  ASSERT_TRUE(engine_.release(2, now_));
  acquire(3, Priority::background);
  const auto granted = output_.grants.size();
  answer<Transaction>(failure(ReplyCode::server_error));
  event(WatchEvent::Kind::deleted, "/P");
  answers<Transaction, List>(claimed("B-0000000003", 300), listing({"A-0000000002", "B-0000000003", "privateLock"}, 5));
  EXPECT_EQ(output_.grants.size(), granted) << "the foreground contender goes first";
}

// --- after a reconnect ---

TEST_F(EngineResolveTest, ABarrierThatFailsIsRepeatedBeforeAnythingIsConcluded) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  disconnect();
  engine_.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now_}, now_);
  answer_heartbeat(failure(ReplyCode::server_error));
  answers<Get, List>({}, listing({}, 2));
  tick_after(100ms);
  answer_heartbeat({});
  answers<List, Get>(listing({"A-0000000002", "privateLock"}, 4), node("guid2", our_session));
  answer<Get>(node("guid2", our_session));
  EXPECT_EQ(output_.grants.size(), 2u);
}

TEST_F(EngineResolveTest, OneBarrierServesAllMonitorsOfAConnection) {
  cold_cycle(1);
  for (ContenderId id = 2; id < 5; ++id) {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.monitor = "M" + std::to_string(id);
    engine_.acquire(id, std::move(spec), now_);
    answers<Create, Transaction>({}, claimed("A-0000000000", 100 + static_cast<Token>(id)));
    answer<Get>(monitor(2, 2, 100 + static_cast<Token>(id)));
  }
  ASSERT_EQ(output_.grants.size(), 4u);
  disconnect();
  engine_.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now_}, now_);
  std::size_t barriers = 0;
  for (const Sent& sent : output_.sent) {
    if (std::holds_alternative<Transaction>(sent.request)) ++barriers;
  }
  EXPECT_TRUE(std::holds_alternative<Transaction>(output_.sent.front().request));
  EXPECT_EQ(barriers, 1u);
}

TEST_F(EngineResolveTest, ALostCreateIsLookedForOnlyAmongTheNodesMadeSince) {
  Reply known = listing({"A-0000000001", "privateLock", "A-0000000007"}, 8);
  known.stat.czxid = 55;
  join(1, Priority::foreground, "A-0000000007", known);
  answer<Get>({});
  acquire(2, Priority::foreground);
  answers<Create, List>(failure(ReplyCode::connection_loss), failure(ReplyCode::connection_loss));
  reconnect();
  answer<Get>({});
  Reply found = listing({"A-0000000001", "privateLock", "A-0000000007", "A-0000000008", "A-0000000009"}, 10);
  found.stat.czxid = 55;
  answer<List>(found);
  EXPECT_EQ(answer<Get>(node("guid1", our_session)).path, "/P/A-0000000007");  // ours, known
  EXPECT_EQ(answer<Get>(node("other", our_session + 1)).path, "/P/A-0000000008");
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/A-0000000009");
  EXPECT_EQ(answer<Get>(failure(ReplyCode::no_node)).path, "/P/privateLock");
  EXPECT_EQ(engine_.state(2), ContenderState::waiting);
}

TEST_F(EngineResolveTest, InAMonitorThatWasMadeAnewEveryNodeMayBeOurs) {
  Reply known = listing({"A-0000000001", "privateLock", "A-0000000007"}, 8);
  known.stat.czxid = 55;
  join(1, Priority::foreground, "A-0000000007", known);
  answer<Get>({});
  acquire(2, Priority::foreground);
  answers<Create, List>(failure(ReplyCode::connection_loss), failure(ReplyCode::connection_loss));
  reconnect();
  answer<Get>({});
  Reply found = listing({"A-0000000000"}, 1);
  found.stat.czxid = 77;
  answer<List>(found);
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/A-0000000000");
  answer<Get>(failure(ReplyCode::no_node));
  EXPECT_NE(engine_.state(2), ContenderState::idle);
}

// --- a waiter's own node ---

}  // namespace
}  // namespace forelock::lock
