// A Link is what a process's agent runs in: virtual time, a session of the model, and the judges that look on.
#pragma once

#include "agent/agent.h"
#include "checker.h"
#include "model/model_session.h"
#include "plan.h"

namespace forelock::simulation {

class Process;
class World;

class Link final : public model::Actor, public coordination::SessionListener, public Believer, public agent::AgentHost {
 public:
  Link(World& world, Process& process);
  ~Link();

  void new_agent();
  void connect();
  void probe_from_now_on();

  const std::string& name() const { return name_; }
  // For a call, of which the checker is told.
  agent::Agent& agent();
  // At the end of each step of the process.
  void release_given_up() { agent_->release_given_up(); }
  void end_step();
  Instant next_timer() { return agent_->next_timer(); }
  bool tidy() const { return agent_ == nullptr || agent_->engine().contenders() == 0; }
  // Null while the process is down.
  model::ModelSession* session_or_null();

  // What the next contender is for; its number, if the call gets one of its own.
  std::uint64_t expect(const PlannedCall& call, Instant deadline);
  // Its GUID and records, for the number that is expected.
  static void fill_in(std::uint64_t id, lock::AcquireSpec& spec);
  bool may_linger(std::uint64_t id) const;
  // How long before its deadline this holder wants to be told of danger; zero: not at all.
  Span danger_margin(std::uint64_t id) const;
  void write_guarded(const agent::ContenderListener& caller, std::uint64_t id);

  // --- faults of the process ---

  void pause(Instant until) { session_->pause(until); }
  // The process has gone: of what is on its way some may still arrive.
  void crash();
  void close_session();
  void go_down();

  // --- Believer ---
  Instant valid_until() const override { return agent_->engine().valid_until(); }
  Instant awake_since() const override;
  Instant calm_since() const override;
  Instant connected_since() const override;
  bool ages() const override;

  void fire(std::uint32_t what, std::uint64_t detail) override;

  // --- SessionListener ---
  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
  void on_watch(const coordination::WatchEvent& event) override;
  void on_session(const coordination::SessionEvent& event) override;

  // --- AgentHost ---
  lock::TimePoint now() const override;
  lock::ContenderId new_contender() override;
  void wake_after_step(std::shared_ptr<agent::ContenderListener>) override {}
  void let_go_after_step(std::shared_ptr<const void> object) override { to_let_go_.push_back(std::move(object)); }
  void begins(lock::ContenderId contender, const lock::AcquireSpec& spec) override;
  void granted(lock::ContenderId contender, const lock::Grant& grant) override;
  void taken_again(lock::ContenderId contender, Priority priority) override;
  void lingers(lock::ContenderId contender) override;
  void given_up(lock::ContenderId contender, bool begun) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void proved(lock::ContenderId contender) override;
  void lost(lock::ContenderId contender, LossReason reason, bool in_use) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void queued(lock::ContenderId contender, const QueuePosition& position) override;
  void moved(lock::ContenderId contender, Priority rank) override;
  void record_changed(lock::ContenderId contender, const std::string& record) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void forgotten(lock::ContenderId contender) override;
  void counter_high(const std::string& monitor, std::int64_t number) override;
  void release_called(lock::ContenderId contender, bool begun) override;
  void cancel_called(lock::ContenderId contender, bool begun) override;
  void inside_called(lock::ContenderId inner, const std::vector<lock::ContenderId>& outer_ones) override;
  void set_priority_called(lock::ContenderId contender, Priority priority, bool begun) override;
  void step_aside_called(lock::ContenderId contender, bool begun, lock::TimePoint deadline) override;
  void sent(coordination::RequestTag tag, const coordination::Request& request) override;
  void withdrawn(coordination::RequestTag tag) override;
  void answered(coordination::RequestTag tag, const coordination::Reply& reply) override;

 private:
  enum What : std::uint32_t { probe, new_session };

  // Below the agent: what goes to the servers.
  class Wire final : public coordination::Session {
   public:
    explicit Wire(Link& link) : link_(link) {}
    void submit(coordination::RequestTag tag, coordination::Request request) override;

   private:
    Link& link_;
  };

  void send_probe();
  bool tracing() const;
  void trace(const std::string& text) const;

  World& world_;
  Process& process_;
  const std::string name_;
  std::unique_ptr<agent::Agent> agent_;
  std::vector<std::unique_ptr<agent::Agent>> former_;
  Wire wire_{*this};
  PlannedCall expected_;
  Instant expected_deadline_ = lock::never;
  std::vector<std::shared_ptr<const void>> to_let_go_;
  std::set<coordination::RequestTag> unanswered_;  // of the engine's requests
  model::ModelSession* session_ = nullptr;
  std::map<std::uint64_t, std::size_t> lists_at_call_;
  std::map<coordination::RequestTag, Instant> probes_;
  std::map<coordination::RequestTag, std::uint64_t> giving_up_;  // requests that give a contender's lock up
  std::map<coordination::RequestTag, std::uint64_t> guarded_;    // writes under a contender's lock
  std::uint64_t next_probe_ = 0;
  std::uint64_t next_guard_ = 0;
  std::uint32_t requests_ = 0;
  std::size_t lists_ = 0;
  // Replies node_exists in a row, each to a request that was sent after the one before had come.
  int collisions_ = 0;
  coordination::RequestTag last_sent_ = 0;
  coordination::RequestTag sent_before_collision_ = 0;
  bool connected_ = false;
  Instant connected_at_{};
  Instant down_since_{};
};

}  // namespace forelock::simulation
