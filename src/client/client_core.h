// The implementation of the client: the ensemble with its agent and session; one mutex; the threads.
//
// Each thread with an event for the agent steps it: a caller, the session's thread with a reply, the ticker with a
// timer. So an acquisition causes no thread switch beyond those of the ZooKeeper client itself. Lock order: the core's
// mutex, then a slot's, then the dispatcher's or the session's.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "client/client_log.h"
#include "client/dispatcher.h"
#include "client/ensemble_link.h"
#include "client/span_queue.h"
#include "client/ticker.h"
#include "forelock/client.h"
#include "forelock/error.h"
#include "forelock/write_lock.h"
#include "lock/engine_types.h"
#include "retry/retry_budget.h"
#include "zookeeper/fork_guard.h"

namespace forelock::client {

class ClientCore final {
 public:
  ClientCore(Settings settings, LogSink log, LogDetail detail = LogDetail::normal, std::shared_ptr<Tracer> tracer = {});
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
  // Stopped at the end of close(), when no callback runs any more: then no thread needs to wait for one.
  std::stop_token closed() const { return close_done_.get_token(); }
  // Of all runners: an operation is tried again; its last retry has failed.
  void count_retry() { ++retries_; }
  void count_exhausted() { ++retries_exhausted_; }
  // Of the ensemble, and these.
  ClientStatistics statistics() const;
  // That of all runners; made as the first of them says.
  retry::RetryBudget& retry_budget(std::uint32_t burst, double per_second);
  // Writes to the host application's log, if it has given one.
  void log(std::string_view level, std::string_view message) { log_.write(level, message); }
  // Whether this is one of the threads that run code of the host application and that close() waits for.
  bool on_callback_thread() const;

  EnsembleLink& ensemble() const { return *ensemble_; }
  // For the spans of locks; null: no tracing.
  SpanQueue* spans() const { return spans_.get(); }

  // --- for the lock slots ---

  // How long a lock of these options may stay with the process after a section. Nothing: it does not, since locks do
  // not linger, or it may not, or its record says what ends with its section, an alarm or the permission to free it by
  // force.
  std::optional<std::chrono::milliseconds> linger_of(const LockOptions& options) const;
  // After how long the first of a class that ages moves; nothing if it does not.
  std::optional<std::chrono::milliseconds> max_wait_of(Priority priority) const;

  // One step of the agent: holds the mutex, and afterwards publishes what changed and wakes whom it concerns. They are
  // woken when the mutex is free again: they are about to want it.
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
  // Runs it under the mutex, as one step: what may be done with the agent is done there, or in a call of a listener.
  template <class Action>
  auto in_step(Action action) {
    const Step step(*this);
    return action(ensemble_->agent());
  }
  // The following are for steps.
  void let_go_after_step(std::shared_ptr<const void> object) { to_let_go_.push_back(std::move(object)); }
  void wake_after_step(std::shared_ptr<agent::ContenderListener> listener) { to_wake_.push_back(std::move(listener)); }

  // Runs a callback on the dispatcher, or here if the client has been closed: each runs, and once.
  void post(Dispatcher::Call callback);
  // The same for what a step leads to, under the mutex: nothing is woken, and nothing runs here, before
  // the step has ended.
  void post_from_step(Dispatcher::Call callback);
  // Stops the token of a lost lock, on a separate thread: callbacks registered with it are the host's, and may block.
  void post_stop(Dispatcher::Call request);

  // --- for Client ---

  // \throws RequestRejectedException(forked, closed).
  bool wait_connected(std::chrono::milliseconds timeout);

  // --- for the ensemble ---

  // Guards it, but for what is atomic.
  std::mutex& mutex() const { return mutex_; }
  bool is_closed() const { return closed_; }
  ClientLog& client_log() { return log_; }
  // Something is due then, beside what steps lead to.
  void wake_by(lock::TimePoint time) { ticker_.wake_by(time); }

 private:
  lock::TimePoint on_timer();
  // How long a callback may take before a warning says so.
  lock::Duration slow_call() const;
  void call_begins(lock::TimePoint time);

  const Settings settings_;
  const std::string instance_;
  const zookeeper::ForkGuard fork_guard_;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<agent::ContenderListener>> to_wake_;  // and, for those that nobody else keeps, to let go
  std::vector<std::shared_ptr<const void>> to_let_go_;
  bool callbacks_posted_ = false;             // in this step
  std::vector<Dispatcher::Call> not_posted_;  // in this step: the dispatcher has been stopped

  std::mutex close_mutex_;
  std::optional<retry::RetryBudget> retry_budget_;

  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> retries_{0};
  std::atomic<std::uint64_t> retries_exhausted_{0};
  std::stop_source close_done_;

  ClientLog log_;
  const std::unique_ptr<SpanQueue> spans_;
  Ticker ticker_;
  Dispatcher dispatcher_;
  Dispatcher stopper_;
  CallWatch call_watch_;
  const std::unique_ptr<EnsembleLink> ensemble_;
};

}  // namespace forelock::client
