// The lock engine with replies written by hand: what it asks for, and what it makes of the answers. Schedules and
// faults in their variety are the simulator's business (tests/simulation).
#include "lock/engine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace forelock::lock {
namespace {

using coordination::Reply;
using coordination::ReplyCode;
using coordination::Request;
using coordination::SessionEvent;
using namespace std::chrono_literals;

constexpr coordination::SessionId our_session = 7;

struct Sent {
  coordination::RequestTag tag = 0;
  Request request;
};

class Recorder final : public EngineOutput {
 public:
  void send(coordination::RequestTag tag, Request request) override { sent.push_back({tag, std::move(request)}); }
  void granted(ContenderId, const Grant& grant) override { grants.push_back(grant.token); }
  void refused(ContenderId, const Refusal& refusal) override { refusals.push_back(refusal); }
  void lost(ContenderId, LossReason reason) override { losses.push_back(reason); }
  void released(ContenderId, ReleaseOutcome outcome) override { releases.push_back(outcome); }
  void queued(ContenderId, const Position& position) override { positions.push_back(position); }
  void contended(ContenderId, Priority) override {}
  void forgotten(ContenderId) override { ++forgotten_count; }
  void counter_high(const std::string&, std::int64_t) override {}

  std::deque<Sent> sent;
  std::vector<Token> grants;
  std::vector<Refusal> refusals;
  std::vector<LossReason> losses;
  std::vector<ReleaseOutcome> releases;
  std::vector<Position> positions;
  int forgotten_count = 0;
};

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() : engine_({}, output_) { connect(); }

  void connect() {
    engine_.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now_}, now_);
    answer<coordination::Sync>({});  // the first heartbeat
  }

  void acquire(ContenderId id, Priority priority, Duration timeout = 60s) {
    AcquireSpec spec;
    spec.monitor = "P";
    spec.priority = priority;
    spec.guid = "guid" + std::to_string(id);
    spec.record = spec.guid;
    spec.holder_record = [guid = spec.guid] { return guid; };
    spec.deadline = now_ + timeout;
    spec.wants_position = true;
    engine_.acquire(id, std::move(spec), now_);
  }

  // The next request must be of this kind; it is answered.
  template <class Kind>
  Kind answer(Reply reply) {
    now_ += 1ms;
    if (output_.sent.empty()) {
      ADD_FAILURE() << "nothing was sent";
      return {};
    }
    const Sent sent = output_.sent.front();
    output_.sent.pop_front();
    const bool right = std::holds_alternative<Kind>(sent.request);
    EXPECT_TRUE(right) << "another kind of request: " << sent.request.index();
    engine_.on_reply(sent.tag, std::move(reply), now_);
    return right ? std::get<Kind>(sent.request) : Kind{};
  }

  static Reply failure(ReplyCode code) {
    Reply reply;
    reply.code = code;
    return reply;
  }

  // The claim of an uncontended acquire: own node, privateLock, its data.
  static Reply claimed(const std::string& node, Token token) {
    Reply reply;
    reply.operations.resize(3);
    reply.operations[0].path = "/P/" + node;
    reply.operations[2].stat.mzxid = token;
    reply.operations[2].stat.version = 1;
    return reply;
  }

  static Reply listing(std::vector<std::string> children, std::int32_t created) {
    Reply reply;
    reply.stat.children = static_cast<std::int32_t>(children.size());
    reply.stat.cversion = 2 * created - reply.stat.children;
    reply.children = std::move(children);
    return reply;
  }

  static Reply node(const std::string& data, coordination::SessionId owner) {
    Reply reply;
    reply.data = data;
    reply.stat.ephemeral_owner = owner;
    return reply;
  }

  // One whole cycle on a monitor that nobody knew.
  void cold_cycle(ContenderId id) {
    acquire(id, Priority::foreground);
    answer<coordination::Create>({});
    answer<coordination::Transaction>(claimed("A-0000000000", 100));
    answer<coordination::Exists>({});
    answer<coordination::List>(listing({"A-0000000000", "privateLock"}, 2));
    ASSERT_EQ(output_.grants.size(), 1u);
    ASSERT_TRUE(engine_.release(id, now_));
    answer<coordination::Transaction>({});
    ASSERT_EQ(output_.releases.size(), 1u);
  }

  TimePoint now_{std::chrono::hours(1)};
  Recorder output_;
  Engine engine_;
};

TEST_F(EngineTest, SteadyStateIsOneRequestToAcquireAndOneToRelease) {
  cold_cycle(1);
  for (ContenderId id = 2; id < 6; ++id) {
    acquire(id, Priority::background);
    // Number 2, 4, 6, 8: each cycle has created the own node and privateLock.
    answer<coordination::Transaction>(
        claimed("B-000000000" + std::to_string(2 * (id - 1)), 100 + static_cast<Token>(id)));
    EXPECT_TRUE(output_.sent.empty());
    EXPECT_EQ(output_.grants.size(), id);
    EXPECT_TRUE(engine_.release(id, now_));
    answer<coordination::Transaction>({});
    EXPECT_TRUE(output_.sent.empty());
  }
}

TEST_F(EngineTest, AnotherNumberThanCountedNeedsAListing) {
  cold_cycle(1);
  acquire(2, Priority::background);
  answer<coordination::Transaction>(claimed("B-0000000003", 200));  // somebody created number 2
  EXPECT_EQ(output_.grants.size(), 1u);
  answer<coordination::List>(listing({"A-0000000002", "B-0000000003", "privateLock"}, 5));
  EXPECT_EQ(output_.grants.size(), 1u);  // a foreground contender was there first: yield
  const auto yield = answer<coordination::Transaction>({});
  ASSERT_EQ(yield.operations.size(), 2u);
  EXPECT_EQ(std::get<coordination::Delete>(yield.operations[1]).path, "/P/privateLock");
}

TEST_F(EngineTest, CountIsForgottenWhenTheMonitorIsDeleted) {
  cold_cycle(1);
  engine_.on_watch({coordination::WatchEvent::Kind::deleted, "/P"}, now_);
  acquire(2, Priority::background);
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("B-0000000002", 200));  // the number that was counted, in another monitor
  EXPECT_EQ(output_.grants.size(), 1u);
}

// The server has removed the emptied container while they were on their way: one miss, however many meet it.
TEST_F(EngineTest, ManyRequestsAtARemovedMonitorAreOneMiss) {
  cold_cycle(1);
  constexpr ContenderId first = 10;
  constexpr ContenderId last = 60;
  for (ContenderId id = first; id < last; ++id) acquire(id, Priority::foreground);
  bool created = false;
  while (!created && !output_.sent.empty()) {
    now_ += 1ms;
    const Sent sent = output_.sent.front();
    output_.sent.pop_front();
    created = std::holds_alternative<coordination::Create>(sent.request) &&
              std::get<coordination::Create>(sent.request).mode == coordination::CreateMode::container;
    engine_.on_reply(sent.tag, created ? Reply{} : failure(ReplyCode::no_node), now_);
  }
  EXPECT_TRUE(created);
  EXPECT_TRUE(output_.refusals.empty()) << output_.refusals.size() << " of " << last - first << " were refused";
}

TEST_F(EngineTest, NodeOfAnotherSessionIsNotAdopted) {
  acquire(1, Priority::foreground);
  answer<coordination::Create>({});
  answer<coordination::Transaction>(failure(ReplyCode::connection_loss));
  answer<coordination::Exists>(failure(ReplyCode::connection_loss));
  answer<coordination::List>(failure(ReplyCode::connection_loss));
  engine_.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now_);
  connect();
  answer<coordination::Sync>({});
  answer<coordination::Exists>({});
  answer<coordination::List>(listing({"A-0000000000"}, 1));
  answer<coordination::Get>(node("guid1", our_session + 1));
  answer<coordination::Get>(failure(ReplyCode::no_node));
  ASSERT_EQ(engine_.state(1), ContenderState::enqueueing);  // anew: the node found is not ours
}

TEST_F(EngineTest, OwnNodeIsAdoptedAfterALostReply) {
  acquire(1, Priority::foreground);
  answer<coordination::Create>({});
  answer<coordination::Transaction>(failure(ReplyCode::connection_loss));
  answer<coordination::Exists>(failure(ReplyCode::connection_loss));
  answer<coordination::List>(failure(ReplyCode::connection_loss));
  engine_.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now_);
  connect();
  answer<coordination::Sync>({});
  answer<coordination::Exists>({});
  answer<coordination::List>(listing({"A-0000000000", "privateLock"}, 2));
  answer<coordination::Get>(node("guid1", our_session));
  Reply lock = node("guid1", our_session);
  lock.stat.mzxid = 300;
  answer<coordination::Get>(lock);
  ASSERT_EQ(output_.grants.size(), 1u);
  EXPECT_EQ(output_.grants[0], 300);
}

TEST_F(EngineTest, GrantWaitsForProofThatTheSessionLives) {
  acquire(1, Priority::foreground);
  now_ += 5s;  // the process was stopped: the reply is older than the session's time-out
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  answer<coordination::Exists>({});
  answer<coordination::List>(listing({"A-0000000000", "privateLock"}, 2));
  EXPECT_TRUE(output_.grants.empty());  // the follower has answered, but the leader may not know of it
  while (output_.grants.empty() && now_ < TimePoint(std::chrono::hours(1)) + 8s) {
    now_ = std::max(now_, engine_.next_timer());
    engine_.tick(now_);
    answer<coordination::Sync>({});
  }
  EXPECT_EQ(output_.grants.size(), 1u);
  EXPECT_GT(engine_.valid_until(), now_);
}

// While a claim waits for the proof that the session lives, its monitor can go and come back.
TEST_F(EngineTest, AWithheldGrantIsProvedAgainWhenTheMonitorIsRemoved) {
  acquire(1, Priority::foreground);
  now_ += 5s;
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  answer<coordination::Exists>({});
  answer<coordination::List>(listing({"A-0000000000", "privateLock"}, 2));
  now_ += 2s;
  engine_.tick(now_);
  answer<coordination::Sync>({});
  engine_.on_watch({coordination::WatchEvent::Kind::deleted, "/P"}, now_);
  now_ += 2s;
  engine_.tick(now_);
  answer<coordination::Sync>({});  // resolving
  answer<coordination::Exists>(failure(ReplyCode::no_node));
  answer<coordination::List>(failure(ReplyCode::no_node));
  answer<coordination::Sync>({});  // the session lives
  EXPECT_TRUE(output_.grants.empty());
  answer<coordination::Get>(failure(ReplyCode::no_node));  // privateLock
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 300));
  EXPECT_EQ(output_.grants, std::vector<Token>{300});
}

// In a monitor that was made anew, the name of a contender's node may be somebody else's.
TEST_F(EngineTest, AfterTheMonitorsRemovalANodeIsLookedAtBeforeItIsRemoved) {
  acquire(1, Priority::foreground, 100ms);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));
  answer<coordination::Exists>({});
  answer<coordination::List>(listing({"B-0000000000", "privateLock"}, 2));
  Reply created;
  created.path = "/P/A-0000000002";
  answer<coordination::Create>(created);
  answer<coordination::List>(listing({"A-0000000002"}, 3));
  ASSERT_EQ(output_.sent.size(), 1u);  // the claim
  engine_.on_watch({coordination::WatchEvent::Kind::deleted, "/P"}, now_);
  now_ += 200ms;
  engine_.tick(now_);
  ASSERT_EQ(output_.refusals.size(), 1u);
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));  // somebody holds, in a new monitor
  answer<coordination::Sync>({});
  answer<coordination::Exists>({});
  answer<coordination::List>(listing({"A-0000000002", "privateLock"}, 4));
  answer<coordination::Get>(node("another guid", our_session + 1));
  answer<coordination::Get>(node("another guid", our_session + 1));
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(output_.forgotten_count, 1);
}

TEST_F(EngineTest, LateReplyDoesNotReviveALockWhoseDeadlineHasPassed) {
  acquire(1, Priority::foreground);
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  now_ += 5s;
  answer<coordination::Exists>({});
  ASSERT_EQ(output_.losses.size(), 1u);
  EXPECT_EQ(output_.losses[0], LossReason::deadline_passed);
  EXPECT_FALSE(engine_.release(1, now_));
  EXPECT_FALSE(engine_.guard(1));
}

TEST_F(EngineTest, HeartbeatsKeepAThirdOfTheTimeoutAhead) {
  cold_cycle(1);
  for (int beat = 0; beat < 20; ++beat) {
    now_ = engine_.next_timer();
    engine_.tick(now_);
    answer<coordination::Sync>({});
  }
  now_ = engine_.next_timer() - 1ms;  // the worst moment
  acquire(2, Priority::foreground);
  answer<coordination::Transaction>(claimed("A-0000000002", 200));
  ASSERT_EQ(output_.grants.size(), 2u);
  now_ += 100ms;
  engine_.tick(now_);
  answer<coordination::Exists>(node("", our_session));  // the watch of a lock that is held longer
  for (int beat = 0; beat < 40; ++beat) {
    now_ = engine_.next_timer();
    EXPECT_GT(engine_.valid_until() - now_, 4000ms / 3 + 200ms) << "heartbeat " << beat;
    engine_.tick(now_);
    answer<coordination::Sync>({});
  }
}

TEST_F(EngineTest, HoldersOwnNodeIsNoPlaceInTheLine) {
  acquire(1, Priority::background);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));
  answer<coordination::Exists>({});
  answer<coordination::List>(listing({"B-0000000000", "privateLock"}, 2));
  Reply created;
  created.path = "/P/B-0000000002";
  answer<coordination::Create>(created);
  answer<coordination::List>(listing({"B-0000000000", "privateLock", "B-0000000002"}, 3));
  ASSERT_FALSE(output_.positions.empty());
  EXPECT_EQ(output_.positions.back(), (Position{1, "privateLock"}));
}

TEST_F(EngineTest, TimeOutAnswersAtOnceAndRemovesTheNodeBehindIt) {
  acquire(1, Priority::background, 100ms);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));
  answer<coordination::Exists>({});
  answer<coordination::List>(listing({"B-0000000000", "privateLock"}, 2));
  now_ += 200ms;
  engine_.tick(now_);
  ASSERT_EQ(output_.refusals.size(), 1u);
  EXPECT_EQ(output_.refusals[0].reason, RefusalReason::timed_out);
  Reply created;
  created.path = "/P/B-0000000002";
  answer<coordination::Create>(created);
  answer<coordination::List>(listing({"B-0000000000", "privateLock", "B-0000000002"}, 3));
  const auto removal = answer<coordination::Delete>({});
  EXPECT_EQ(removal.path, "/P/B-0000000002");
  EXPECT_EQ(output_.forgotten_count, 1);
  EXPECT_EQ(engine_.contenders(), 0u);
}

}  // namespace
}  // namespace forelock::lock
