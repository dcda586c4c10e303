#include "client/client_core.h"

#include <algorithm>
#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"
#include "records/instance.h"

namespace forelock::client {

ClientCore::ClientCore(Settings settings, LogSink log, LogDetail detail)
    : settings_(std::move(settings)),
      instance_(records::process_identity()),
      log_(std::move(log)),
      ticker_([this] { return on_timer(); }),
      dispatcher_("forelock-disp", [this](lock::TimePoint time) { call_begins(time); }),
      stopper_("forelock-stop", [this](lock::TimePoint time) { call_begins(time); }),
      call_watch_({&dispatcher_, &stopper_}, log_),
      ensemble_(std::make_unique<EnsembleLink>(*this, log_.has_sink() && detail == LogDetail::debug)) {
  if (log_.has_sink() && detail == LogDetail::debug) course_.emplace(log_);
}

ClientCore::~ClientCore() {
  close();
}

void ClientCore::start(ClientUse use) {
  ensemble_->start(use);
  start_threads();
}

void ClientCore::start_threads() {
  log_.start();
  stopper_.start();
  dispatcher_.start();
  ticker_.start();
}

void ClientCore::close() {
  if (in_forked_child()) return;
  const std::lock_guard closing(close_mutex_);  // whoever comes second returns when it is done
  if (closed_) return;
  begin_close();
  ensemble_->keeper_.stop();
  std::vector<EnsembleLink::WaitingRequest> waiting;
  {
    const std::lock_guard guard(mutex_);
    waiting = std::exchange(ensemble_->waiting_requests_, {});
    connection_changed_.notify_all();
  }
  EnsembleLink::refuse_requests(waiting);
  dispatcher_.stop();
  stopper_.stop();
  ticker_.stop();
  log_.stop();
  close_done_.request_stop();
}

void ClientCore::begin_close() {
  closed_ = true;
  {
    const Step step(*this);
    // What lingers is released like any other lock, so that its monitor can go, too.
    ensemble_->linger_.disconnected();
  }
  {
    const Step step(*this);
    ensemble_->engine_.close(now());
  }
  ensemble_->keeper_.begin_stop();
}

bool ClientCore::on_callback_thread() const {
  return dispatcher_.on_this_thread() || stopper_.on_this_thread() || log_.on_this_thread();
}

void ClientCore::check_usable() const {
  if (in_forked_child()) {
    throw RequestRejectedException(ErrorCode::forked, {}, "this client belongs to the parent process",
                                   "make a new forelock::Client after fork()");
  }
  if (closed_) throw RequestRejectedException(ErrorCode::closed, {}, "the client is closed");
}

retry::RetryBudget& ClientCore::retry_budget(std::uint32_t burst, double per_second) {
  const std::lock_guard guard(mutex_);
  if (!retry_budget_) retry_budget_.emplace(burst, per_second);
  return *retry_budget_;
}

// --- lock slots ---

lock::ContenderId ClientCore::acquire(const std::shared_ptr<LockSlot>& slot, lock::AcquireSpec spec, bool may_linger) {
  const Step step(*this);
  return acquire_in_step(slot, std::move(spec), may_linger);
}

bool ClientCore::release(lock::ContenderId contender) {
  const Step step(*this);
  const bool begun = ensemble_->end_section(contender);
  return begun;
}

bool ClientCore::release(lock::ContenderId contender, lock::TimePoint answer_by) {
  const Step step(*this);
  const bool begun = ensemble_->end_section(contender);
  if (!listeners_.contains(contender)) return begun;  // it has its answer, and may soon be another caller's
  // Most have their answer in a moment: what is behind the oldest one that waits is looked at when that is through.
  while (!unanswered_.empty() && !listeners_.contains(unanswered_.front().second)) unanswered_.pop_front();
  unanswered_.emplace_back(answer_by, contender);
  ticker_.wake_by(unanswered_.front().first);
  return begun;
}

bool ClientCore::release_detached(lock::ContenderId contender) {
  if (in_forked_child()) return false;
  const Step step(*this);
  const auto listener = take_listener(contender);
  const bool begun = ensemble_->end_section(contender) || ensemble_->engine_.cancel(contender, now());
  return begun;
}

bool ClientCore::cancel(const ContenderListener& caller, lock::ContenderId contender) {
  const Step step(*this);
  return listener_of(contender).get() == &caller && ensemble_->engine_.cancel(contender, now());
}

bool ClientCore::update_record(const ContenderListener& caller, lock::ContenderId contender, std::string record) {
  const Step step(*this);
  return listener_of(contender).get() == &caller && update_record_in_step(contender, std::move(record));
}

std::shared_ptr<ContenderListener> ClientCore::listener_of(lock::ContenderId contender) const {
  const auto found = listeners_.find(contender);
  return found == listeners_.end() ? nullptr : found->second;
}

std::shared_ptr<ContenderListener> ClientCore::take_listener(lock::ContenderId contender) {
  ensemble_->danger_.remove(contender);
  const auto found = listeners_.find(contender);
  if (found == listeners_.end()) return nullptr;
  auto listener = std::move(found->second);
  listeners_.erase(found);
  return listener;
}

void ClientCore::post(Dispatcher::Call callback) {
  if (!dispatcher_.post(callback)) callback.run();
}

void ClientCore::post_from_step(Dispatcher::Call callback) {
  callbacks_posted_ = true;
  if (!dispatcher_.enqueue(callback)) not_posted_.push_back(std::move(callback));
}

void ClientCore::post_stop(Dispatcher::Call request) {
  stopper_.post(request);
}

lock::Duration ClientCore::slow_call() const {
  const std::chrono::milliseconds negotiated = ensemble_->session_timeout();
  return (negotiated.count() > 0 ? negotiated : settings_.session_timeout()) / 8;
}

// While the session is connected the ticker wakes often enough by itself, so that short callbacks wake no other thread.
void ClientCore::call_begins(lock::TimePoint time) {
  ticker_.wake_by(time + slow_call() * 4 / 3);
}

lock::TimePoint ClientCore::on_timer() {
  std::vector<EnsembleLink::WaitingRequest> expired;
  std::vector<std::shared_ptr<ContenderListener>> looked_at;
  lock::TimePoint next = lock::never;
  {
    const Step step(*this);
    const lock::TimePoint time = now();
    ensemble_->tick_in_step(time);
    next = std::min(give_up_answers(time, looked_at), tell_time(time, looked_at));
    next = std::min(next, ensemble_->next_timer());
    expired = ensemble_->take_expired(time, next);
  }
  EnsembleLink::refuse_requests(expired);
  return std::min(next, call_watch_.look(now(), slow_call()));
}

lock::TimePoint ClientCore::give_up_answers(lock::TimePoint time,
                                            std::vector<std::shared_ptr<ContenderListener>>& looked_at) {
  for (; !unanswered_.empty(); unanswered_.pop_front()) {
    const auto [answer_by, contender] = unanswered_.front();
    auto listener = listener_of(contender);
    if (!listener) continue;
    if (time < answer_by) return answer_by;
    listener->release_unanswered(contender);
    looked_at.push_back(std::move(listener));
  }
  return lock::never;
}

// --- Client ---

bool ClientCore::wait_connected(std::chrono::milliseconds timeout) {
  const bool connected = ensemble_->wait_connected(timeout);
  check_usable();
  return connected;
}

ClientStatistics ClientCore::statistics() const {
  const std::lock_guard guard(mutex_);
  ClientStatistics statistics = statistics_;
  statistics.requests += ensemble_->grouping_.requests();
  statistics.contenders = ensemble_->engine_.contenders();
  statistics.lingering = ensemble_->linger_.lingering();
  return statistics;
}

}  // namespace forelock::client
