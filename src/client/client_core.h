// The client behind its public face: the engine with its mutex, the session, the threads.
//
// The engine is stepped by whoever has something for it: a caller, the session's thread with a reply, the ticker
// with a timer. So an acquisition costs no thread switch beyond those of the ZooKeeper client itself. Lock order: the
// core's mutex, then a slot's, then the dispatcher's or the session's.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/answer_watch.h"
#include "client/call_watch.h"
#include "client/client_log.h"
#include "client/contender_listener.h"
#include "client/course_log.h"
#include "client/danger_watch.h"
#include "client/dispatcher.h"
#include "client/session_keeper.h"
#include "client/ticker.h"
#include "coordination/session.h"
#include "forelock/client.h"
#include "forelock/error.h"
#include "forelock/write_lock.h"
#include "grouping/grouping_session.h"
#include "linger/linger_machine.h"
#include "lock/engine.h"
#include "retry/retry_budget.h"
#include "zookeeper/fork_guard.h"

namespace forelock::client {

class LockSlot;

class ClientCore final : public lock::EngineOutput {
 public:
  ClientCore(Settings settings, LogSink log, LogDetail detail = LogDetail::normal);
  ~ClientCore();

  // Begins to connect.
  void start();
  // What start() does besides.
  void start_threads();
  void close();

  const Settings& settings() const { return settings_; }
  const std::string& instance() const { return instance_; }
  bool in_forked_child() const { return fork_guard_.in_child(); }
  bool usable() const { return !in_forked_child() && !closed_; }
  // \throws RequestRejectedException(forked or closed).
  void check_usable() const;
  // Stopped at the end of close(), when no callback runs any more: whoever waits for one has waited long enough.
  std::stop_token closed() const { return close_done_.get_token(); }
  // That of all runners; made as the first of them says.
  retry::RetryBudget& retry_budget(std::uint32_t burst, double per_second);
  // Writes to the host application's log, if it has given one.
  void log(std::string_view level, std::string_view message) { log_.write(level, message); }
  // Whether this is one of the threads that run code of the host application and that close() waits for.
  bool on_callback_thread() const;

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
  bool cancel(lock::ContenderId contender);
  // False if the lock is not held, or not by this caller: another one may have it by now, as the same contender.
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
  // Releases what is held and withdraws what waits.
  void give_up_in_step(lock::ContenderId contender);
  void want_contention_in_step(lock::ContenderId contender);
  // It may be the last reference: what its callbacks own may call us when it dies.
  void let_go_after_step(std::shared_ptr<const void> object) { to_let_go_.push_back(std::move(object)); }
  void wake_after_step(std::shared_ptr<ContenderListener> listener) { to_wake_.push_back(std::move(listener)); }
  // StepListener::time_has_come() follows then, in a step, as long as the listener lives.
  void call_at(lock::TimePoint time, std::weak_ptr<StepListener> listener);

  // Does what is due now: for callers whose deadline has come.
  void tick();
  // Until when a lock of the present session is certain to live, in steady nanoseconds. Lock-free.
  std::int64_t valid_until() const { return valid_until_.load(std::memory_order_acquire); }
  bool connected() const { return connected_.load(std::memory_order_acquire); }
  // From when on so little of that is left that the connection must be silent. As above.
  std::int64_t suspect_from() const { return suspect_from_.load(std::memory_order_acquire); }
  // Runs a callback on the dispatcher, or here if the client has been closed: each runs, and once.
  void post(Dispatcher::Call callback);
  // The same for what a step of the engine leads to, under the mutex: nothing is woken, and nothing runs here, before
  // the step has ended.
  void post_from_step(Dispatcher::Call callback);
  // Stops the token of a lost lock, on a thread of its own: what is registered with it is the host's, and may block.
  void post_stop(Dispatcher::Call request);
  // A lock that is held already has a danger-zone callback from now on.
  void watch_danger(lock::ContenderId contender, lock::Duration margin);

  // --- requests beside the protocol ---

  using ReplyHandler = std::function<void(coordination::Reply)>;
  // Waits for the connection if there is none; the handler is called exactly once, on the session's thread or this one,
  // with connection_loss at the latest when the client is closed or gives up connecting.
  void request(coordination::Request request, ReplyHandler handler);
  std::future<coordination::Reply> request(coordination::Request request);
  // The caller's operations with a check that each lock is still its contender's. False if one is not, already now, or
  // if a contender has another caller.
  bool guarded_transaction(const ContenderListener& caller, const std::vector<lock::ContenderId>& contenders,
                           std::vector<coordination::Operation> operations, ReplyHandler handler);

  // --- for Client ---

  bool wait_connected(std::chrono::milliseconds timeout);
  std::int64_t session_id() const { return session_id_.load(std::memory_order_relaxed); }
  // As negotiated; 0 before the first connection.
  std::chrono::milliseconds session_timeout() const { return session_timeout_.load(std::memory_order_relaxed); }
  std::string last_problem() const;
  // What the server said about us that no waiting will mend, such as refused credentials.
  std::optional<ErrorCode> standing_problem() const;
  ClientStatistics statistics() const;

  // --- for SessionKeeper ---

  void use_session(coordination::Session* session);  // nullptr: none at the moment
  void on_reply(coordination::RequestTag tag, coordination::Reply reply, bool current);
  void on_watch(const coordination::WatchEvent& event);
  void on_session(const coordination::SessionEvent& event);
  void set_problem(std::string problem, std::optional<ErrorCode> standing = std::nullopt);
  // Why the session is worth nothing although servers accept it: it is given up then, as if it had expired.
  std::optional<std::string> why_useless() const;
  void session_given_up(const std::string& why);

  // --- lock::EngineOutput: called by the engine, under the mutex ---

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
  void explained(lock::ContenderId contender, const lock::CourseNote& note) override;

 private:
  // One step of the engine: holds the mutex, and afterwards publishes what changed and wakes whom it concerns. They are
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

  // What comes up to the engine, in a step.
  class EngineListener final : public coordination::SessionListener {
   public:
    explicit EngineListener(lock::Engine& engine) : engine_(engine) {}
    void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
    void on_watch(const coordination::WatchEvent& event) override;
    void on_session(const coordination::SessionEvent& event) override;

   private:
    lock::Engine& engine_;
  };

  struct OwnRequest {
    ReplyHandler handler;
    lock::TimePoint sent{};
    bool write = false;
  };
  struct WaitingRequest {
    coordination::Request request;
    ReplyHandler handler;
  };

  // --- locks that linger (client_linger.cc), in a step ---

  // Whether locks of this session are certain to be held, and for a while.
  bool certain(lock::TimePoint time) const;
  // The lingering lock that it gets; 0 for none.
  lock::ContenderId hand_out(const std::shared_ptr<ContenderListener>& listener, const linger::Wish& wish);
  // Lets the lock linger, or releases it, perhaps in a moment (`may_wait`). False if it is not held.
  bool end_section(lock::ContenderId contender, bool may_wait = true);
  void release_given_up();

  std::shared_ptr<ContenderListener> listener_of(lock::ContenderId contender) const;
  // Its last news is on the way: nothing more is told to the slot.
  std::shared_ptr<ContenderListener> take_listener(lock::ContenderId contender);
  void publish_deadline();
  void submit_own(coordination::Request request, ReplyHandler handler, bool write = false);
  static void refuse_requests(const std::vector<WaitingRequest>& requests);
  lock::TimePoint on_timer();
  // That of the engine, or of a lock that wants to be told of danger before.
  lock::TimePoint next_timer();
  // How long a callback may take before a warning says so.
  lock::Duration slow_call() const;
  void call_begins(lock::TimePoint time);
  void look_for_danger(lock::TimePoint time);
  // `looked_at` keeps the slots alive until the mutex is free: what their callbacks own may call us when it dies.
  lock::TimePoint give_up_answers(lock::TimePoint time, std::vector<std::shared_ptr<ContenderListener>>& looked_at);
  // The same of StepListener::time_has_come().
  lock::TimePoint tell_time(lock::TimePoint time, std::vector<std::shared_ptr<ContenderListener>>& looked_at);

  const Settings settings_;
  const std::string instance_;
  const zookeeper::ForkGuard fork_guard_;

  mutable std::mutex mutex_;
  std::condition_variable connection_changed_;
  lock::Engine engine_;
  EngineListener engine_listener_{engine_};
  grouping::GroupingSession grouping_{{}, engine_listener_};  // what the engine sends goes through it
  linger::LingerMachine linger_;
  coordination::Session* session_ = nullptr;
  lock::ContenderId next_contender_ = 1;
  std::unordered_map<lock::ContenderId, std::shared_ptr<ContenderListener>> listeners_;
  std::vector<std::shared_ptr<StepListener>> at_end_of_step_;
  std::multimap<lock::TimePoint, std::weak_ptr<StepListener>> times_;
  std::vector<std::shared_ptr<ContenderListener>> to_wake_;  // and, for those that nobody else keeps, to let go
  std::vector<std::shared_ptr<const void>> to_let_go_;
  bool callbacks_posted_ = false;             // in this step
  std::vector<Dispatcher::Call> not_posted_;  // in this step: the dispatcher has been stopped
  DangerWatch danger_;
  AnswerWatch answers_;
  std::deque<std::pair<lock::TimePoint, lock::ContenderId>> unanswered_;  // releases; all wait equally long
  coordination::RequestTag next_own_tag_;
  std::unordered_map<coordination::RequestTag, OwnRequest> own_requests_;
  std::vector<WaitingRequest> waiting_requests_;
  lock::TimePoint down_since_;
  std::string problem_;
  std::optional<ErrorCode> standing_problem_;
  ClientStatistics statistics_;

  std::mutex close_mutex_;
  std::optional<retry::RetryBudget> retry_budget_;

  std::atomic<bool> closed_{false};
  std::stop_source close_done_;
  std::atomic<bool> connected_{false};
  std::atomic<std::int64_t> valid_until_{0};
  std::atomic<std::int64_t> suspect_from_{0};
  std::atomic<std::int64_t> session_id_{0};
  std::atomic<std::chrono::milliseconds> session_timeout_{std::chrono::milliseconds(0)};

  ClientLog log_;
  std::optional<CourseLog> course_;  // if debug lines are wanted
  Ticker ticker_;
  Dispatcher dispatcher_;
  Dispatcher stopper_;
  CallWatch call_watch_;
  SessionKeeper keeper_;
};

}  // namespace forelock::client
