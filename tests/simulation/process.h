// One process: an engine, its session, and the threads that call it. What the real driver does, under virtual time.
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
#include "retry/operation_machine.h"
#include "sets/set_machine.h"

namespace forelock::simulation {

class World;

class Process final : public model::Actor,
                      public coordination::SessionListener,
                      public lock::EngineOutput,
                      public Believer {
 public:
  Process(World& world, std::size_t index);
  ~Process();
  void start();

  // Every call of every thread has ended and nothing of them is left.
  bool finished() const { return threads_open_ == 0; }
  bool tidy() const { return engine_ == nullptr || engine_->contenders() == 0; }
  const std::string& name() const { return name_; }
  model::ModelSession* session_or_null() { return down_ ? nullptr : session_; }

  // --- faults ---
  void pause(Instant until);
  void crash(Instant restart);
  void shutdown(Instant restart);

  // --- Believer ---
  Instant valid_until() const override { return engine_->valid_until(); }
  Instant awake_since() const override { return awake_since_; }
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
  void granted(lock::ContenderId contender, const lock::Grant& grant) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void queued(lock::ContenderId contender, const QueuePosition& position) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void forgotten(lock::ContenderId contender) override;
  void counter_high(const std::string& monitor, std::int64_t number) override;

 private:
  enum What : std::uint32_t {
    tick,
    begin_call,
    cancel_call,
    end_hold,
    mid_hold,
    probe,
    restart,
    new_session,
    operation_due,
    letter_answered,
    letter_written,
    stop_operation
  };
  enum class Happening { granted, refused, lost, released, outranked };

  // Below the grouping: what goes to the servers.
  class Wire final : public coordination::Session {
   public:
    explicit Wire(Process& process) : process_(process) {}
    void submit(coordination::RequestTag tag, coordination::Request request) override;

   private:
    Process& process_;
  };
  // Above it: what the engine hears.
  class EngineListener final : public coordination::SessionListener {
   public:
    explicit EngineListener(Process& process) : process_(process) {}
    void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
    void on_watch(const coordination::WatchEvent& event) override;
    void on_session(const coordination::SessionEvent& event) override;

   private:
    Process& process_;
  };

  // A call for several monitors: what the client's lock set does, with contenders of the checker.
  struct SetCall {
    explicit SetCall(std::size_t members) : machine(members) {}

    sets::SetMachine machine;
    std::uint64_t id = 0;
    std::vector<std::size_t> monitors;  // by member
    Instant deadline = lock::never;
    std::map<std::uint64_t, sets::AttemptId> attempts;  // by contender, those that have not ended
    std::map<sets::AttemptId, std::uint64_t> contenders;
    bool told_held = false;
  };
  struct Thread {
    const PlannedThread* plan = nullptr;
    std::size_t next = 0;
    std::uint64_t contender = 0;  // of the call under way
    int step_asides = 0;
    int guarded_writes = 0;
    std::uint32_t serial = 0;  // timers of earlier stages are stale
    bool over = false;
    // Of the operation that is run, if its call is one.
    std::unique_ptr<retry::OperationMachine> operation;
    std::uint64_t operation_id = 0;
    Instant operation_deadline = retry::never;
    std::uint64_t again = 0;      // the operation to be begun anew
    bool awaits_release = false;  // after a success
    bool held_at_end = false;     // of the handler, by the truth
    bool certain = false;
    std::unique_ptr<SetCall> set;  // if its call is for several monitors
  };
  struct Reaction {
    Happening what;
    std::uint64_t contender;
    std::size_t thread;
    lock::Refusal refusal = {};
    lock::ReleaseOutcome outcome = lock::ReleaseOutcome::released;
  };

  Instant now() const;
  const PlannedCall& call_of(const Thread& thread) const { return thread.plan->calls[thread.next]; }
  void timer(Span delay, What what, std::size_t thread);
  void begin(std::size_t index);
  void contend(std::size_t index);
  void next_call(std::size_t index);
  void held(std::size_t index);
  void middle_of_hold(std::size_t index);
  void finish_hold(std::size_t index);
  void write_guarded(std::uint64_t contender);
  void engine_hears(coordination::RequestTag tag, coordination::Reply reply);
  void settle();
  void react(const Reaction& reaction);
  void new_engine();
  void connect();
  void go_down(Instant restart, bool in_good_order);

  // Makes a contender and hands it to the engine.
  std::uint64_t ask(std::size_t index, const PlannedCall& call, Instant deadline);

  // --- locks that linger ---
  bool certain() const;
  // The contender whose lock the call gets; 0 for none.
  std::uint64_t take_lingering(std::size_t index, const PlannedCall& call);
  bool end_section(std::uint64_t id, bool& begun);
  // The thread is told when it has been released. \returns whether it was held.
  bool end_section_of(std::size_t index, std::uint64_t id);
  void release_given_up();

  // --- sets ---
  void begin_set(std::size_t index);
  void carry_out(std::size_t index, const sets::Command& command);
  void want_contention(const SetCall& set);
  void follow_set(std::size_t index);
  void react_in_set(std::size_t index, const Reaction& reaction);
  void finish_hold_of_set(std::size_t index);

  // --- operations ---
  void begin_operation(std::size_t index);
  void follow(std::size_t index);
  void give_letter(std::size_t index);
  void operation_timer(What what, std::size_t index);
  void stop_requested(std::size_t index, std::uint64_t id);
  void react_in_operation(std::size_t index, const Reaction& reaction);
  void end_handler(std::size_t index);
  void abandon_operation(std::size_t index, bool in_good_order);
  retry::AttemptEnd attempt_end();

  std::size_t thread_of(std::uint64_t contender) const;
  bool tracing() const;
  void trace(const std::string& text) const;

  World& world_;
  const std::size_t index_;
  const std::string name_;
  std::unique_ptr<lock::Engine> engine_;
  std::vector<std::unique_ptr<lock::Engine>> former_;
  Wire wire_{*this};
  EngineListener engine_listener_{*this};
  std::unique_ptr<grouping::GroupingSession> grouping_;
  std::unique_ptr<linger::LingerMachine> linger_;
  std::set<coordination::RequestTag> unanswered_;  // of the engine's requests
  model::ModelSession* session_ = nullptr;
  std::vector<Thread> threads_;
  std::size_t threads_open_ = 0;
  std::unique_ptr<retry::RetryBudget> budget_;
  std::uint64_t life_ = 0;  // how often it has gone down
  std::vector<Reaction> reactions_;
  std::map<std::uint64_t, std::size_t> thread_by_contender_;
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
  bool down_ = false;
  bool connected_ = false;
  Instant connected_at_{};
  Instant down_since_{};
  Instant paused_until_{};
  Instant awake_since_{};
  Instant next_tick_ = lock::never;  // as the engine wants it
  Instant tick_comes_{};             // as it comes
};

}  // namespace forelock::simulation
