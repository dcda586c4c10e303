// One process: its threads, and its link to the ensemble. What the real driver does, under virtual time.
#pragma once

#include "checker.h"
#include "link.h"
#include "plan.h"
#include "retry/operation_machine.h"

namespace forelock::simulation {

class World;

// What has become of a contender, and its thread is to react to.
enum class Happening { granted, refused, lost, released };
struct Reaction {
  Happening what = Happening::granted;
  std::uint64_t contender = 0;
  lock::Refusal refusal = {};
  LossReason loss = LossReason::removed;
  lock::ReleaseOutcome outcome = lock::ReleaseOutcome::released;
  std::size_t thread = 0;
};

class Process final : public model::Actor {
 public:
  Process(World& world, std::size_t index);
  ~Process();
  void start();

  std::size_t index() const { return index_; }
  const std::string& name() const { return name_; }
  Link& link() { return link_; }
  // Every call of every thread has ended and nothing of them is left.
  bool finished() const { return threads_open_ == 0; }
  // But for those that poll.
  bool calls_finished() const { return calls_open_ == 0; }
  bool tidy() const;

  // --- faults ---
  void pause(Instant until);
  void crash(Instant restart);
  void shutdown(Instant restart);

  void fire(std::uint32_t what, std::uint64_t detail) override;

  // --- for its link ---

  bool is_down() const { return down_; }
  // Since when it has been able to act on timers; in the future while it stands still.
  Instant awake_since() const { return awake_since_; }
  // When something that is due now happens instead, if the process stands still.
  std::optional<Instant> after_pause();
  void lingers(std::uint64_t contender);
  void stepped_aside(std::uint64_t contender);
  void contended(std::uint64_t contender, Priority waiting);
  // At the end of every step.
  void settle();

 private:
  enum What : std::uint32_t {
    tick,
    begin_call,
    cancel_call,
    change_class,
    end_hold,
    begin_inner,
    end_inner,
    mid_hold,
    restart,
    operation_due,
    letter_answered,
    letter_written,
    stop_operation,
    set_due
  };

  // process_calls.h
  class Caller;
  class SetCall;

  struct Thread {
    const PlannedThread* plan = nullptr;
    std::size_t next = 0;
    std::uint64_t contender = 0;  // of the call under way
    std::shared_ptr<Caller> caller;
    std::uint64_t inner = 0;  // of the lock inside of the one that is held
    std::shared_ptr<Caller> inner_caller;
    int step_asides = 0;
    int guarded_writes = 0;
    std::uint32_t serial = 0;  // timers of earlier stages are stale
    bool over = false;
    std::size_t polls = 0;
    // Of the operation that is run, if its call is one.
    std::unique_ptr<retry::OperationMachine> operation;
    std::uint64_t operation_id = 0;
    Instant operation_deadline = retry::never;
    std::uint64_t again = 0;      // the operation to be begun anew
    bool awaits_release = false;  // after a success
    bool held_at_end = false;     // of the handler, by the truth
    bool certain = false;
    std::shared_ptr<SetCall> set;  // if its call is for several monitors
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
  void lock_inner(std::size_t index);
  void leave_inner(std::size_t index);
  void happened(Reaction reaction) { reactions_.push_back(reaction); }
  void react(const Reaction& reaction);
  void connect();
  void go_down(Instant restart, bool in_good_order);

  // Makes a contender and hands it to the agent; or takes one whose lock lingers.
  std::uint64_t ask(const std::shared_ptr<Caller>& caller, const PlannedCall& call, Instant deadline);
  // The thread is told when it has been released. \returns whether it was held.
  bool end_section_of(std::uint64_t id);

  // --- sets ---
  void begin_set(std::size_t index);
  void follow_set(std::size_t index, SetCall& set);
  // It has its answer by its deadline, also while what it holds is being proved.
  void check_set(std::size_t index);
  // A timer of the agent may come late, and lead to a wait whose time is over, which the next one ends.
  Span late_answer() const;
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

  bool tracing() const;
  void trace(const std::string& text) const;

  World& world_;
  const std::size_t index_;
  const std::string name_;
  Link link_;
  std::vector<Thread> threads_;
  std::size_t threads_open_ = 0;
  std::size_t calls_open_ = 0;  // of these, those that do not poll
  std::unique_ptr<retry::RetryBudget> budget_;
  std::uint64_t life_ = 0;  // how often it has gone down
  std::vector<Reaction> reactions_;
  std::map<std::uint64_t, std::size_t> thread_by_contender_;
  bool down_ = false;
  Instant paused_until_{};
  Instant awake_since_{};
  Instant next_tick_ = lock::never;  // as the link wants it
  Instant tick_comes_{};             // as it comes
};

}  // namespace forelock::simulation
