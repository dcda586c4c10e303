// An engine whose requests are answered by hand.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lock/engine.h"

namespace forelock::lock {

using coordination::Reply;
using coordination::ReplyCode;
using coordination::Request;
using coordination::SessionEvent;

inline constexpr coordination::SessionId our_session = 7;

struct Sent {
  coordination::RequestTag tag = 0;
  Request request;
};

class Recorder final : public EngineOutput {
 public:
  void send(coordination::RequestTag tag, Request request) override { sent.push_back({tag, std::move(request)}); }
  void granted(ContenderId, const Grant& grant) override {
    grants.push_back(grant.token);
    losses_before_last_grant = losses.size();
  }
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
  std::size_t losses_before_last_grant = 0;
};

class EngineTest : public ::testing::Test {
 protected:
  explicit EngineTest(EngineOptions options = {}) : engine_(std::move(options), output_) { connect(); }

  void connect() {
    engine_.on_session({SessionEvent::Kind::connected, our_session, std::chrono::milliseconds(4000), now_}, now_);
    answer<coordination::Sync>({});  // the first heartbeat
  }

  AcquireSpec spec_of(ContenderId id, Priority priority, Duration timeout = std::chrono::minutes(1)) const {
    AcquireSpec spec;
    spec.monitor = "P";
    spec.priority = priority;
    spec.guid = "guid" + std::to_string(id);
    spec.record = spec.guid;
    spec.holder_record = [guid = spec.guid] { return guid; };
    spec.deadline = now_ + timeout;
    return spec;
  }

  void acquire(ContenderId id, Priority priority, Duration timeout = std::chrono::minutes(1)) {
    AcquireSpec spec = spec_of(id, priority, timeout);
    spec.wants_position = true;
    engine_.acquire(id, std::move(spec), now_);
  }

  // The next request must be of this kind; it is answered.
  template <class Kind>
  Kind answer(Reply reply) {
    now_ += std::chrono::microseconds(100);
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

  // The monitor's node as it is right after the claim with this token, or after a later change of its children.
  static Reply monitor(std::int32_t children, std::int32_t created, Token changed_by) {
    Reply reply;
    reply.stat.children = children;
    reply.stat.cversion = 2 * created - children;
    reply.stat.pzxid = changed_by;
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
    answer<coordination::Exists>(monitor(2, 2, 100));
    ASSERT_EQ(output_.grants.size(), 1u);
    ASSERT_TRUE(engine_.release(id, now_));
    answer<coordination::Transaction>({});
    ASSERT_EQ(output_.releases.size(), 1u);
  }

  // The resolving of what became of it has got as far as its listing.
  void claim_lost_with_the_connection(ContenderId id) {
    acquire(id, Priority::foreground);
    answer<coordination::Create>({});
    answer<coordination::Transaction>(failure(ReplyCode::connection_loss));
    answer<coordination::Exists>(failure(ReplyCode::connection_loss));
    engine_.on_session({SessionEvent::Kind::disconnected, 0, std::chrono::milliseconds(0)}, now_);
    connect();
    answer<coordination::Sync>({});
    answer<coordination::Exists>({});
  }

  TimePoint now_{std::chrono::hours(1)};
  Recorder output_;
  Engine engine_;
};

}  // namespace forelock::lock
