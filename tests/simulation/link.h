// A Link is the ensemble as a process uses it: an engine, its session, and the locks that stay with the process.
//
// What the client's EnsembleLink does, under virtual time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checker.h"
#include "grouping/grouping_session.h"
#include "linger/linger_machine.h"
#include "lock/engine.h"
#include "model/model_session.h"
#include "plan.h"

namespace forelock::simulation {

class Process;
class World;

class Link final : public model::Actor,
                   public coordination::SessionListener,
                   public lock::EngineOutput,
                   public Believer {
 public:
  Link(World& world, Process& process);
  ~Link();

  void new_engine();
  void connect();
  void probe_from_now_on();

  const std::string& name() const { return name_; }
  lock::Engine& engine() { return *engine_; }
  linger::LingerMachine& linger() { return *linger_; }
  bool tidy() const { return engine_ == nullptr || engine_->contenders() == 0; }
  // Null while the process is down.
  model::ModelSession* session_or_null();

  // --- calls of the process's threads ---

  // Hands the contender to the engine. `background_set`: it is a member of such a set.
  void acquire(std::uint64_t id, const PlannedCall& call, Instant deadline, bool background_set);
  // The contender whose lingering lock the call gets; 0 for none.
  std::uint64_t take_lingering(const PlannedCall& call);
  // Whether the lock lingers now; otherwise its release has been asked for, and `begun` says whether it was held.
  bool end_section(std::uint64_t id, bool& begun);
  bool cancel(std::uint64_t id);
  bool step_aside(std::uint64_t id, Instant deadline);
  void update_record(std::uint64_t id, char kind);
  void write_guarded(std::uint64_t id);

  // --- for the process, in each of its steps ---

  void prove(std::uint64_t contender);
  void knock(std::vector<std::string> monitors);
  void release_given_up();
  void flush() { grouping_->flush(); }
  Instant next_timer() const;
  void timer_due();

  // --- faults of the process ---

  void pause(Instant until) { session_->pause(until); }
  // The process has gone: of what is on its way some may still arrive.
  void crash();
  void close_engine() { engine_->close(now()); }
  void close_session();
  void go_down();

  // --- Believer ---
  Instant valid_until() const override { return engine_->valid_until(); }
  Instant awake_since() const override;
  Instant calm_since() const override;
  Instant connected_since() const override;

  void fire(std::uint32_t what, std::uint64_t detail) override;

  // --- SessionListener ---
  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
  void on_watch(const coordination::WatchEvent& event) override;
  void on_session(const coordination::SessionEvent& event) override;

  // --- EngineOutput ---
  void send(coordination::RequestTag tag, coordination::Request request) override;
  bool withdraw(coordination::RequestTag tag) override;
  void unwanted(coordination::RequestTag tag) override;
  void granted(lock::ContenderId contender, const lock::Grant& grant) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void proved(lock::ContenderId contender) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void queued(lock::ContenderId contender, const QueuePosition& position) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void forgotten(lock::ContenderId contender) override;
  void counter_high(const std::string& monitor, std::int64_t number) override;

 private:
  enum What : std::uint32_t { probe, new_session };

  // Below the grouping: what goes to the servers.
  class Wire final : public coordination::Session {
   public:
    explicit Wire(Link& link) : link_(link) {}
    void submit(coordination::RequestTag tag, coordination::Request request) override;

   private:
    Link& link_;
  };
  // Above it: what the engine hears.
  class EngineListener final : public coordination::SessionListener {
   public:
    explicit EngineListener(Link& link) : link_(link) {}
    void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
    void on_watch(const coordination::WatchEvent& event) override;
    void on_session(const coordination::SessionEvent& event) override;

   private:
    Link& link_;
  };

  Instant now() const;
  void engine_hears(coordination::RequestTag tag, coordination::Reply reply);
  void send_probe();
  bool certain() const;
  bool tracing() const;
  void trace(const std::string& text) const;

  World& world_;
  Process& process_;
  const std::string name_;
  std::unique_ptr<lock::Engine> engine_;
  std::vector<std::unique_ptr<lock::Engine>> former_;
  Wire wire_{*this};
  EngineListener engine_listener_{*this};
  std::unique_ptr<grouping::GroupingSession> grouping_;
  std::unique_ptr<linger::LingerMachine> linger_;
  std::set<coordination::RequestTag> unanswered_;  // of the engine's requests
  model::ModelSession* session_ = nullptr;
  std::map<std::uint64_t, std::size_t> lists_at_call_;
  std::map<coordination::RequestTag, Instant> probes_;
  std::map<coordination::RequestTag, std::uint64_t> giving_up_;  // requests that give a contender's lock up
  std::uint64_t next_probe_ = 0;
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
