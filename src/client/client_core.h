// The client behind its public face: the ensemble with its engine and session; one mutex; the threads.
//
// The engine is stepped by whoever has something for it: a caller, the session's thread with a reply, the ticker
// with a timer. So an acquisition costs no thread switch beyond those of the ZooKeeper client itself. Lock order: the
// core's mutex, then a slot's, then the dispatcher's or the session's.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/call_watch.h"
#include "client/client_log.h"
#include "client/contender_listener.h"
#include "client/course_log.h"
#include "client/dispatcher.h"
#include "client/ensemble_link.h"
#include "client/ticker.h"
#include "forelock/client.h"
#include "forelock/error.h"
#include "forelock/write_lock.h"
#include "lock/engine_types.h"
#include "retry/retry_budget.h"
#include "zookeeper/fork_guard.h"

namespace forelock::client {

class LockSlot;

class ClientCore final {
 public:
  ClientCore(Settings settings, LogSink log, LogDetail detail = LogDetail::normal);
  ~ClientCore();

  // Begins to connect.
  void start(ClientUse use = ClientUse::locks);
  // What start() does besides.
  void start_threads();
  void close();
  // The part of it that waits for nothing; close() does no more then.
  void begin_close();

  const Settings& settings() const { return settings_; }
  const std::string& instance() const { return instance_; }
  bool in_forked_child() const { return fork_guard_.in_child(); }
  bool usable() const { return !in_forked_child() && !closed_; }
  // \throws RequestRejectedException(forked, closed).
  void check_usable() const;
  // Stopped at the end of close(), when no callback runs any more: whoever waits for one has waited long enough.
  std::stop_token closed() const { return close_done_.get_token(); }
  // That of all runners; made as the first of them says.
  retry::RetryBudget& retry_budget(std::uint32_t burst, double per_second);
  // Writes to the host application's log, if it has given one.
  void log(std::string_view level, std::string_view message) { log_.write(level, message); }
  // Whether this is one of the threads that run code of the host application and that close() waits for.
  bool on_callback_thread() const;

  EnsembleLink& ensemble() const { return *ensemble_; }

  // --- for the lock slots ---

  // Begins an acquisition; the slot is told how it ends. `may_linger`: linger::Wish.
  lock::ContenderId acquire(const std::shared_ptr<LockSlot>& slot, lock::AcquireSpec spec, bool may_linger);
  // How long a lock of these options may stay with the process after a section. Nothing: it does not, since locks do
  // not linger, or it may not, or its record says what ends with its section, an alarm or the permission to free it by
  // force.
  std::optional<std::chrono::milliseconds> linger_of(const LockOptions& options) const;
  // The same if the lock lingers here: without a request, and the slot holds it afterwards. False, and nothing has
  // begun, if it does not.
  bool acquire_lingering(const std::shared_ptr<LockSlot>& slot);
  // The holder has finished: LockSlot::released() follows, or has come. False: it is not held.
  bool release(lock::ContenderId contender);
  // The same; without an answer by then the slot is told that there is none: LockSlot::release_unanswered().
  bool release(lock::ContenderId contender, lock::TimePoint answer_by);
  // Releases a held lock, or withdraws a waiting one, without telling the slot any more.
  bool release_detached(lock::ContenderId contender);
  // The following do nothing, and return false, for a contender that is not this caller's any more: another one may
  // have it by now, since a lock that lingers stays the same contender.
  bool cancel(const ContenderListener& caller, lock::ContenderId contender);
  // False, too, if the lock is not held.
  bool update_record(const ContenderListener& caller, lock::ContenderId contender, std::string record);

  // --- several calls to the engine in one step ---

  // A set is told of the end of a step in which it has asked to be, and of times.
  class StepListener : public ContenderListener {
   public:
    virtual void step_ends() = 0;
    virtual void time_has_come(lock::TimePoint time) = 0;
  };
  // Runs it under the mutex, as one step.
  template <class Action>
  void in_step(Action action) {
    const Step step(*this);
    action();
  }
  // The following are for steps: of in_step(), or of a ContenderListener's or StepListener's call.
  void at_end_of_step(std::shared_ptr<StepListener> listener) { at_end_of_step_.push_back(std::move(listener)); }
  // It may be held already when this returns: ContenderListener::taken().
  lock::ContenderId acquire_in_step(const std::shared_ptr<ContenderListener>& listener, lock::AcquireSpec spec,
                                    bool may_linger);
  bool holds_in_step(lock::ContenderId contender) const;
  bool step_aside_in_step(lock::ContenderId contender, lock::TimePoint deadline);
  // As update_record().
  bool update_record_in_step(lock::ContenderId contender, std::string record);
  // Releases what is held and withdraws what waits. It may linger if its caller has finished, and only then.
  void give_up_in_step(lock::ContenderId contender, bool section_ended);
  void want_contention_in_step(lock::ContenderId contender);
  // ContenderListener::proved() follows, or lost().
  void prove_in_step(lock::ContenderId contender);
  // As lock::Engine::knock().
  void knock_in_step(const std::vector<std::string>& node_names);
  // As EnsembleLink::watch_danger().
  void watch_danger_in_step(lock::ContenderId contender, lock::Duration margin);
  // It may be the last reference: what its callbacks own may call us when it dies.
  void let_go_after_step(std::shared_ptr<const void> object) { to_let_go_.push_back(std::move(object)); }
  void wake_after_step(std::shared_ptr<ContenderListener> listener) { to_wake_.push_back(std::move(listener)); }
  // StepListener::time_has_come() follows then, in a step, as long as the listener lives.
  void call_at(lock::TimePoint time, std::weak_ptr<StepListener> listener);

  // Runs a callback on the dispatcher, or here if the client has been closed: each runs, and once.
  void post(Dispatcher::Call callback);
  // The same for what a step of the engine leads to, under the mutex: nothing is woken, and nothing runs here, before
  // the step has ended.
  void post_from_step(Dispatcher::Call callback);
  // Stops the token of a lost lock, on a thread of its own: what is registered with it is the host's, and may block.
  void post_stop(Dispatcher::Call request);

  // --- for Client ---

  // \throws RequestRejectedException(forked, closed).
  bool wait_connected(std::chrono::milliseconds timeout);
  ClientStatistics statistics() const;

 private:
  friend class EnsembleLink;

  // One step of the engine: holds the mutex, and afterwards publishes what changed and wakes whom it concerns. They
  // are woken when the mutex is free again: they are about to want it.
  class Step {
   public:
    explicit Step(ClientCore& core) : core_(core), guard_(core.mutex_) {}
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    ClientCore& core_;
    std::unique_lock<std::mutex> guard_;
  };

  std::shared_ptr<ContenderListener> listener_of(lock::ContenderId contender) const;
  // Its last news is on the way: nothing more is told to the slot.
  std::shared_ptr<ContenderListener> take_listener(lock::ContenderId contender);
  lock::TimePoint on_timer();
  // How long a callback may take before a warning says so.
  lock::Duration slow_call() const;
  void call_begins(lock::TimePoint time);
  // `looked_at` keeps the slots alive until the mutex is free: what their callbacks own may call us when it dies.
  lock::TimePoint give_up_answers(lock::TimePoint time, std::vector<std::shared_ptr<ContenderListener>>& looked_at);
  // The same of StepListener::time_has_come().
  lock::TimePoint tell_time(lock::TimePoint time, std::vector<std::shared_ptr<ContenderListener>>& looked_at);

  const Settings settings_;
  const std::string instance_;
  const zookeeper::ForkGuard fork_guard_;

  mutable std::mutex mutex_;
  std::condition_variable connection_changed_;
  lock::ContenderId next_contender_ = 1;
  std::unordered_map<lock::ContenderId, std::shared_ptr<ContenderListener>> listeners_;
  std::vector<std::shared_ptr<StepListener>> at_end_of_step_;
  std::multimap<lock::TimePoint, std::weak_ptr<StepListener>> times_;
  std::vector<std::shared_ptr<ContenderListener>> to_wake_;  // and, for those that nobody else keeps, to let go
  std::vector<std::shared_ptr<const void>> to_let_go_;
  bool callbacks_posted_ = false;             // in this step
  std::vector<Dispatcher::Call> not_posted_;  // in this step: the dispatcher has been stopped
  std::deque<std::pair<lock::TimePoint, lock::ContenderId>> unanswered_;  // releases; all wait equally long
  ClientStatistics statistics_;

  std::mutex close_mutex_;
  std::optional<retry::RetryBudget> retry_budget_;

  std::atomic<bool> closed_{false};
  std::stop_source close_done_;

  ClientLog log_;
  std::optional<CourseLog> course_;  // if debug lines are wanted
  Ticker ticker_;
  Dispatcher dispatcher_;
  Dispatcher stopper_;
  CallWatch call_watch_;
  const std::unique_ptr<EnsembleLink> ensemble_;
};

}  // namespace forelock::client
