#include "client/client_core.h"

#include <algorithm>
#include <utility>

#include "client/clock.h"
#include "client/span_file.h"
#include "forelock/version.h"
#include "records/instance.h"

namespace forelock::client {

namespace {

std::unique_ptr<SpanQueue> make_spans(const Settings& settings, const std::string& instance,
                                      std::shared_ptr<Tracer> tracer, ClientLog& log) {
  const auto warn = [&log](const std::string& message) { log.write("warning", message); };
  if (!tracer && !settings.trace_file().empty()) {
    records::SpanSource source{service_name(), instance, std::string(version()), settings.trace_monitors()};
    tracer = std::make_shared<SpanFile>(settings.trace_file(), std::move(source), warn);
  }
  return tracer ? std::make_unique<SpanQueue>(std::move(tracer), warn) : nullptr;
}

}  // namespace

ClientCore::ClientCore(Settings settings, LogSink log, LogDetail detail, std::shared_ptr<Tracer> tracer)
    : settings_(std::move(settings)),
      instance_(records::process_identity()),
      log_(std::move(log)),
      spans_(make_spans(settings_, instance_, std::move(tracer), log_)),
      ticker_([this] { return on_timer(); }),
      dispatcher_("forelock-disp", [this](lock::TimePoint time) { call_begins(time); }),
      stopper_("forelock-stop", [this](lock::TimePoint time) { call_begins(time); }),
      call_watch_({&dispatcher_, &stopper_}, log_),
      ensemble_(std::make_unique<EnsembleLink>(*this, log_.has_sink() && detail == LogDetail::debug)) {}

ClientCore::~ClientCore() {
  close();
}

void ClientCore::start(ClientUse use) {
  ensemble_->start(use);
  start_threads();
}

void ClientCore::start_threads() {
  log_.start();
  if (spans_) spans_->start();
  stopper_.start();
  dispatcher_.start();
  ticker_.start();
}

void ClientCore::close() {
  if (in_forked_child()) return;
  const std::lock_guard closing(close_mutex_);  // whoever comes second returns when it is done
  if (closed_) return;
  begin_close();
  ensemble_->end_session();
  dispatcher_.stop();
  stopper_.stop();
  ticker_.stop();
  if (spans_) spans_->stop();
  log_.stop();
  close_done_.request_stop();
}

void ClientCore::begin_close() {
  closed_ = true;
  ensemble_->begin_close();
}

bool ClientCore::on_callback_thread() const {
  return dispatcher_.on_this_thread() || stopper_.on_this_thread() || log_.on_this_thread() ||
         (spans_ && spans_->on_this_thread());
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

ClientStatistics ClientCore::statistics() const {
  ClientStatistics statistics = ensemble_->statistics();
  statistics.retries = retries_;
  statistics.retries_exhausted = retries_exhausted_;
  return statistics;
}

// --- steps ---

ClientCore::Step::~Step() {
  core_.ticker_.wake_by(core_.ensemble_->end_step());
  // What is let go here dies when the mutex is free: what its callbacks own may call the client.
  const auto to_wake = std::exchange(core_.to_wake_, {});
  const auto to_let_go = std::exchange(core_.to_let_go_, {});
  const bool callbacks_posted = std::exchange(core_.callbacks_posted_, false);
  const auto not_posted = std::exchange(core_.not_posted_, {});
  guard_.unlock();
  if (callbacks_posted) core_.dispatcher_.wake();
  for (const auto& listener : to_wake) listener->wake();
  for (const Dispatcher::Call& callback : not_posted) callback.run();
}

std::optional<std::chrono::milliseconds> ClientCore::linger_of(const LockOptions& options) const {
  if (settings_.linger() <= std::chrono::milliseconds(0) || !options.may_linger) return std::nullopt;
  if (options.expected_runtime || options.auto_unlock_after) return std::nullopt;
  return settings_.linger();
}

std::optional<std::chrono::milliseconds> ClientCore::max_wait_of(Priority priority) const {
  const bool ages =
      priority != all_priorities.front() && settings_.background_max_wait() > std::chrono::milliseconds(0);
  return ages ? std::optional(settings_.background_max_wait()) : std::nullopt;
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
  return std::min(ensemble_->tick(), call_watch_.look(now(), slow_call()));
}

// --- Client ---

bool ClientCore::wait_connected(std::chrono::milliseconds timeout) {
  const bool connected = ensemble_->wait_connected(timeout);
  check_usable();
  return connected;
}

}  // namespace forelock::client
