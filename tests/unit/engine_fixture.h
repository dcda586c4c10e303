// An engine whose requests are answered by hand.
#pragma once

#include "lock/engine.h"
#include "support/test.h"

namespace forelock::lock {

using coordination::Check, coordination::Create, coordination::CreateMode, coordination::Delete, coordination::Effect,
    coordination::Get, coordination::List, coordination::OperationResult, coordination::RemoveDataWatch,
    coordination::Reply, coordination::ReplyCode, coordination::Request, coordination::RequestTag,
    coordination::SessionEvent, coordination::SetData, coordination::Sync, coordination::Transaction,
    coordination::WatchEvent;

inline constexpr coordination::SessionId our_session = 7;

struct Sent {
  coordination::RequestTag tag = 0;
  Request request;
};

template <class Kind>
using ReplyTo = Reply;

class Recorder final : public EngineOutput {
 public:
  void send(coordination::RequestTag tag, Request request) override { sent.push_back({tag, std::move(request)}); }
  bool withdraw(coordination::RequestTag tag) override {
    return holds_back && std::erase_if(sent, [tag](const Sent& one) { return one.tag == tag; }) > 0;
  }
  void granted(ContenderId, const Grant& grant) override {
    grants.push_back(grant.token);
    losses_before_last_grant = losses.size();
  }
  void refused(ContenderId, const Refusal& refusal) override { refusals.push_back(refusal); }
  void lost(ContenderId, LossReason reason) override { losses.push_back(reason); }
  void released(ContenderId, ReleaseOutcome outcome) override { releases.push_back(outcome); }
  void queued(ContenderId, const QueuePosition& position) override { positions.push_back(position); }
  void contended(ContenderId, Priority waiting) override { contentions.push_back(waiting); }
  void moved(ContenderId, Priority rank) override { moves.push_back(rank); }
  void record_changed(ContenderId id, const std::string&) override { changed_records.push_back(id); }
  void proved(ContenderId id) override { proofs.push_back(id); }
  void forgotten(ContenderId) override { ++forgotten_count; }
  void counter_high(const std::string&, std::int64_t number) override { high_numbers.push_back(number); }
  void removal_denied() override { ++removals_denied; }
  void explained(ContenderId contender, const CourseNote& note) override {
    explained_steps.push_back({contender, note.step, std::string(note.node), note.number});
  }

  struct Explained {
    ContenderId contender = 0;
    CourseStep step{};
    std::string node;
    std::int64_t number = 0;
  };
  bool holds_back = false;  // what it has in `sent` can still be withdrawn
  std::vector<Explained> explained_steps;
  std::deque<Sent> sent;
  std::vector<Token> grants;
  std::vector<Refusal> refusals;
  std::vector<LossReason> losses;
  std::vector<ReleaseOutcome> releases;
  std::vector<QueuePosition> positions;
  std::vector<Priority> contentions;
  std::vector<Priority> moves;
  std::vector<ContenderId> proofs;
  std::vector<ContenderId> changed_records;
  std::vector<std::int64_t> high_numbers;
  int removals_denied = 0;
  int forgotten_count = 0;
  std::size_t losses_before_last_grant = 0;
};

class EngineTest : public ::testing::Test {
 protected:
  // Whether a contender is asked for at the servers: its node and privateLock, both.
  static bool is_question(const Request& request) {
    const auto* transaction = std::get_if<coordination::Transaction>(&request);
    return transaction && transaction->operations.size() == 2 &&
           std::holds_alternative<coordination::Check>(transaction->operations[1]);
  }

  explicit EngineTest(EngineOptions options = {}) : engine_(std::move(options), output_) { connect(); }

  // For the first time, or again: then the first request is the barrier, if there is anything to find out.
  void connect() {
    engine_.on_session({SessionEvent::Kind::connected, our_session, std::chrono::milliseconds(4000), now_}, now_);
    answer_heartbeat({});
  }

  AcquireSpec spec_of(ContenderId id, Priority priority, Duration timeout = std::chrono::minutes(1)) const {
    AcquireSpec spec;
    spec.monitor = "P";
    spec.priority = priority;
    spec.guid = "guid" + std::to_string(id);
    spec.record = [](RecordUse, const std::string& guid) { return guid; };
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

  // The same for several, in this order.
  template <class... Kinds>
  void answers(ReplyTo<Kinds>... replies) {
    (answer<Kinds>(std::move(replies)), ...);
  }

  // A heartbeat, as a write or as a sync; or the barrier of a resolving, which looks like the first.
  static bool is_heartbeat(const Request& request) {
    const auto* write = std::get_if<coordination::Transaction>(&request);
    const bool checks = write && write->operations.size() == 1 &&
                        std::holds_alternative<coordination::Check>(write->operations.front());
    return checks || std::holds_alternative<coordination::Sync>(request);
  }
  void answer_heartbeat(Reply reply) {
    ASSERT_FALSE(output_.sent.empty());
    ASSERT_TRUE(is_heartbeat(output_.sent.front().request));
    if (std::holds_alternative<coordination::Sync>(output_.sent.front().request)) {
      answer<coordination::Sync>(std::move(reply));
    } else {
      answer<coordination::Transaction>(std::move(reply));
    }
  }

  // All that are under way, wherever they stand among the others.
  void answer_heartbeats() {
    std::deque<Sent> others;
    for (Sent& sent : std::exchange(output_.sent, {})) {
      if (is_heartbeat(sent.request)) {
        engine_.on_reply(sent.tag, {}, now_);
      } else {
        others.push_back(std::move(sent));
      }
    }
    output_.sent.insert(output_.sent.begin(), others.begin(), others.end());
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

  // As the server counts: it overflows near the end of the sequence counter.
  static std::int32_t cversion(std::int64_t created, std::int64_t children) {
    return static_cast<std::int32_t>(2 * created - children);
  }

  static Reply listing(std::vector<std::string> children, std::int32_t created) {
    Reply reply;
    reply.stat.children = static_cast<std::int32_t>(children.size());
    reply.stat.cversion = cversion(created, reply.stat.children);
    reply.children = std::move(children);
    return reply;
  }

  // The monitor's node as it is right after the claim with this token, or after a later change of its children.
  static Reply monitor(std::int32_t children, std::int32_t created, Token changed_by) {
    Reply reply;
    reply.stat.children = children;
    reply.stat.cversion = cversion(created, children);
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
    answer<coordination::Get>(monitor(2, 2, 100));
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
    answer<coordination::Get>(failure(ReplyCode::connection_loss));
    reconnect();
    answer<coordination::Get>({});
  }

  void ask(ContenderId id, Priority priority = Priority::foreground, bool try_once = false) {
    AcquireSpec spec = spec_of(id, priority);
    spec.try_once = try_once;
    engine_.acquire(id, std::move(spec), now_);
  }

  void event(coordination::WatchEvent::Kind kind, const std::string& path) {
    now_ += std::chrono::milliseconds(1);
    engine_.on_watch({kind, path}, now_);
  }

  static Reply created(const std::string& node) {
    Reply reply;
    reply.path = "/P/" + node;
    return reply;
  }

  // The first acquire of a monitor that another process holds: its claim fails, and it joins the queue.
  void join(ContenderId id, Priority priority, const std::string& node, const Reply& line) {
    ask(id, priority);
    answer<coordination::Create>(failure(ReplyCode::node_exists));
    answer<coordination::Transaction>(failure(ReplyCode::node_exists));
    answer<coordination::Get>({});
    answer<coordination::Create>(created(node));
    answer<coordination::List>(line);
  }

  void release(ContenderId id) {
    ASSERT_TRUE(engine_.release(id, now_));
    answer<coordination::Transaction>({});
  }

  // What is due next, at its time.
  void wait() {
    now_ = std::max(now_, engine_.next_timer());
    engine_.tick(now_);
  }
  void disconnect() { engine_.on_session({SessionEvent::Kind::disconnected, 0, std::chrono::milliseconds(0)}, now_); }
  void expire() { engine_.on_session({SessionEvent::Kind::expired, 0, 0ms}, now_); }
  void reconnect() {
    disconnect();
    connect();
  }
  void renew_session() {
    expire();
    connect();
  }

  void tick_after(Duration time) {
    now_ += time;
    engine_.tick(now_);
  }

  void expect_refused(RefusalReason reason) {
    ASSERT_EQ(output_.refusals.size(), 1u);
    EXPECT_EQ(output_.refusals[0].reason, reason);
  }

  TimePoint now_{std::chrono::hours(1)};
  Recorder output_;
  Engine engine_;
};

}  // namespace forelock::lock
