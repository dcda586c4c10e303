#include "client/client_core.h"

#include <algorithm>
#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"
#include "records/instance.h"

namespace forelock::client {

using coordination::Reply;
using coordination::ReplyCode;
using coordination::SessionEvent;

namespace {

// Tags of requests beside the protocol: the engine never comes so far.
constexpr coordination::RequestTag own_tags = coordination::RequestTag{1} << 63;

// Requests that wait for a connection; beyond it something is wrong with the caller.
constexpr std::size_t max_waiting_requests = 10'000;

// Shorter, and looking after unused monitors would be most of what an engine does.
constexpr std::chrono::milliseconds least_monitor_linger{100};

lock::EngineOptions engine_options(const Settings& settings, bool explain) {
  lock::EngineOptions options;
  for (const Priority priority : all_priorities) options.prefixes[priority] = settings.prefix(priority);
  options.watch_mode = settings.watch_mode();
  options.monitor_linger = settings.monitor_linger();
  if (options.monitor_linger > lock::Duration()) {
    options.monitor_linger = std::max<lock::Duration>(options.monitor_linger, least_monitor_linger);
  }
  options.others_linger = settings.linger() > lock::Duration();
  options.give_up_after = settings.connection_retry() * settings.connection_delay();
  options.root_bytes = settings.chroot().size();
  options.explain = explain;
  return options;
}

}  // namespace

ClientCore::ClientCore(Settings settings, LogSink log, LogDetail detail)
    : settings_(std::move(settings)),
      instance_(records::process_identity()),
      engine_(engine_options(settings_, log && detail == LogDetail::debug), *this),
      linger_({.time = settings_.linger(),
               .locks = settings_.linger_max(),
               .reused = settings_.linger_reused(),
               .delay = settings_.release_delay()}),
      next_own_tag_(own_tags),
      down_since_(now()),
      log_(std::move(log)),
      ticker_([this] { return on_timer(); }),
      dispatcher_("forelock-disp", [this](lock::TimePoint time) { call_begins(time); }),
      stopper_("forelock-stop", [this](lock::TimePoint time) { call_begins(time); }),
      call_watch_({&dispatcher_, &stopper_}, log_),
      keeper_(*this) {
  if (engine_.explains()) course_.emplace(log_);
}

ClientCore::~ClientCore() {
  close();
}

void ClientCore::start() {
  keeper_.start();
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
  if (closed_.exchange(true)) return;
  {
    const Step step(*this);
    linger_.disconnected();  // what lingers is released like any other lock, so that its monitor can go, too
  }
  {
    const Step step(*this);
    engine_.close(now());
  }
  keeper_.stop();
  std::vector<WaitingRequest> waiting;
  {
    const std::lock_guard guard(mutex_);
    waiting = std::exchange(waiting_requests_, {});
    connection_changed_.notify_all();
  }
  refuse_requests(waiting);
  dispatcher_.stop();
  stopper_.stop();
  ticker_.stop();
  log_.stop();
  close_done_.request_stop();
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
  const bool begun = end_section(contender);
  return begun;
}

bool ClientCore::release(lock::ContenderId contender, lock::TimePoint answer_by) {
  const Step step(*this);
  const bool begun = end_section(contender);
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
  const bool begun = end_section(contender) || engine_.cancel(contender, now());
  return begun;
}

bool ClientCore::cancel(lock::ContenderId contender) {
  const Step step(*this);
  const bool cancelled = engine_.cancel(contender, now());
  return cancelled;
}

bool ClientCore::update_record(const ContenderListener& caller, lock::ContenderId contender, std::string record) {
  const Step step(*this);
  return listener_of(contender).get() == &caller && update_record_in_step(contender, std::move(record));
}

void ClientCore::tick() {
  const Step step(*this);
  engine_.tick(now());
}

void ClientCore::watch_danger(lock::ContenderId contender, lock::Duration margin) {
  const Step step(*this);
  if (listeners_.contains(contender)) danger_.add(contender, margin);
}

std::shared_ptr<ContenderListener> ClientCore::listener_of(lock::ContenderId contender) const {
  const auto found = listeners_.find(contender);
  return found == listeners_.end() ? nullptr : found->second;
}

std::shared_ptr<ContenderListener> ClientCore::take_listener(lock::ContenderId contender) {
  danger_.remove(contender);
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
  const std::chrono::milliseconds negotiated = session_timeout_.load(std::memory_order_relaxed);
  return (negotiated.count() > 0 ? negotiated : settings_.session_timeout()) / 8;
}

// While the session is connected the ticker wakes often enough by itself, so that short callbacks wake no other thread.
void ClientCore::call_begins(lock::TimePoint time) {
  ticker_.wake_by(time + slow_call() * 4 / 3);
}

lock::TimePoint ClientCore::on_timer() {
  std::vector<WaitingRequest> expired;
  std::vector<std::shared_ptr<ContenderListener>> looked_at;
  lock::TimePoint next = lock::never;
  {
    const Step step(*this);
    const lock::TimePoint time = now();
    engine_.tick(time);
    linger_.tick(time);
    look_for_danger(time);
    next = std::min(give_up_answers(time, looked_at), tell_time(time, looked_at));
    next = std::min(next, next_timer());
    if (!waiting_requests_.empty() && !connected_) {
      const lock::TimePoint give_up = down_since_ + settings_.connection_retry() * settings_.connection_delay();
      if (give_up <= time) {
        expired = std::exchange(waiting_requests_, {});
      } else {
        next = std::min(next, give_up);
      }
    }
  }
  refuse_requests(expired);
  return std::min(next, call_watch_.look(now(), slow_call()));
}

void ClientCore::look_for_danger(lock::TimePoint time) {
  for (const lock::ContenderId contender : danger_.due(time, engine_.valid_until())) {
    if (const auto listener = listener_of(contender)) listener->in_danger(contender);
  }
}

lock::TimePoint ClientCore::next_timer() {
  lock::TimePoint next = std::min(engine_.next_timer(), linger_.next_timer());
  if (!danger_.empty()) next = std::min(next, danger_.next(now(), engine_.valid_until()));
  return next;
}

// Heartbeats keep more than a third of the time-out ahead while they are answered.
void ClientCore::publish_deadline() {
  const lock::TimePoint valid_until = engine_.valid_until();
  suspect_from_.store(nanoseconds(valid_until - session_timeout_.load() / 3), std::memory_order_release);
  valid_until_.store(nanoseconds(valid_until), std::memory_order_release);
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

// --- requests beside the protocol ---

void ClientCore::submit_own(coordination::Request request, ReplyHandler handler, bool write) {
  const auto tag = next_own_tag_++;
  own_requests_.emplace(tag, OwnRequest{std::move(handler), now(), write});
  ++statistics_.requests;
  session_->submit(tag, std::move(request));
}

void ClientCore::request(coordination::Request request, ReplyHandler handler) {
  check_usable();
  {
    const std::lock_guard guard(mutex_);
    if (connected_ && session_) return submit_own(std::move(request), std::move(handler));
    if (!closed_ && waiting_requests_.size() < max_waiting_requests) {
      waiting_requests_.push_back({std::move(request), std::move(handler)});
      ticker_.wake_by(now() + settings_.connection_retry() * settings_.connection_delay());
      return;
    }
  }
  Reply refused;
  refused.code = ReplyCode::connection_loss;
  handler(std::move(refused));
}

std::future<Reply> ClientCore::request(coordination::Request request) {
  auto promise = std::make_shared<std::promise<Reply>>();
  auto future = promise->get_future();
  this->request(std::move(request), [promise](Reply reply) { promise->set_value(std::move(reply)); });
  return future;
}

bool ClientCore::guarded_transaction(const ContenderListener& caller, const std::vector<lock::ContenderId>& contenders,
                                     std::vector<coordination::Operation> operations, ReplyHandler handler) {
  check_usable();
  const std::lock_guard guard(mutex_);
  if (!connected_ || !session_) return false;
  coordination::Transaction transaction;
  for (const lock::ContenderId contender : contenders) {
    if (listener_of(contender).get() != &caller) return false;
    auto checks = engine_.guard(contender);
    if (!checks) return false;
    std::move(checks->begin(), checks->end(), std::back_inserter(transaction.operations));
  }
  std::move(operations.begin(), operations.end(), std::back_inserter(transaction.operations));
  submit_own(std::move(transaction), std::move(handler), true);
  return true;
}

void ClientCore::refuse_requests(const std::vector<WaitingRequest>& requests) {
  for (const WaitingRequest& request : requests) {
    Reply reply;
    reply.code = ReplyCode::connection_loss;
    request.handler(std::move(reply));
  }
}

// --- Client ---

bool ClientCore::wait_connected(std::chrono::milliseconds timeout) {
  std::unique_lock guard(mutex_);
  connection_changed_.wait_for(guard, timeout, [this] { return connected_ || closed_; });
  return connected_;
}

std::string ClientCore::last_problem() const {
  const std::lock_guard guard(mutex_);
  return problem_;
}

std::optional<ErrorCode> ClientCore::standing_problem() const {
  const std::lock_guard guard(mutex_);
  return standing_problem_;
}

ClientStatistics ClientCore::statistics() const {
  const std::lock_guard guard(mutex_);
  ClientStatistics statistics = statistics_;
  statistics.requests += grouping_.requests();
  statistics.contenders = engine_.contenders();
  statistics.lingering = linger_.lingering();
  return statistics;
}

// --- the session ---

void ClientCore::use_session(coordination::Session* session) {
  const Step step(*this);
  session_ = session;
  grouping_.use(session);
  if (!session && connected_) {  // closed by ourselves: nobody else will say so
    connected_ = false;
    engine_.on_session({.kind = SessionEvent::Kind::expired}, now());
  }
}

void ClientCore::on_reply(coordination::RequestTag tag, Reply reply, bool current) {
  const bool answered = current && coordination::answered_by_server(reply.code);
  if (tag < own_tags) {
    if (!current) return;
    const Step step(*this);
    if (answered) answers_.answered(now());
    grouping_.on_reply(tag, std::move(reply));
    return;
  }
  ReplyHandler handler;
  {
    const Step step(*this);
    const auto found = own_requests_.find(tag);
    if (found == own_requests_.end()) return;
    handler = std::move(found->second.handler);
    if (answered) {
      const lock::TimePoint time = now();
      answers_.answered(time);
      engine_.on_answered(found->second.sent, found->second.write, time, reply.code);
    }
    own_requests_.erase(found);
  }
  handler(std::move(reply));
}

void ClientCore::on_watch(const coordination::WatchEvent& event) {
  const Step step(*this);
  grouping_.on_watch(event);
  if (linger_.on() && event.path.size() > 1) linger_.changed(event.path.substr(1, event.path.find('/', 1) - 1), now());
}

void ClientCore::on_session(const SessionEvent& event) {
  const Step step(*this);
  if (closed_) return;
  connected_ = event.kind == SessionEvent::Kind::connected;
  switch (event.kind) {
    case SessionEvent::Kind::connected:
      if (session_id_.exchange(event.session) != event.session) answers_.opened(now());
      session_timeout_ = event.timeout;
      problem_.clear();
      standing_problem_.reset();
      for (WaitingRequest& waiting : std::exchange(waiting_requests_, {})) {
        submit_own(std::move(waiting.request), std::move(waiting.handler));
      }
      break;
    case SessionEvent::Kind::disconnected:
      ++statistics_.disconnections;
      linger_.disconnected();
      answers_.disconnected();
      down_since_ = now();
      break;
    case SessionEvent::Kind::expired:
      ++statistics_.sessions_expired;
      down_since_ = now();
      log("warning", "the ZooKeeper session has expired; its locks are lost");
      break;
    case SessionEvent::Kind::auth_failed:
      problem_ = "ZooKeeper refuses the credentials of zookeeper.auth.digest.file";
      standing_problem_ = ErrorCode::not_authorized;
      log("error", problem_);
      break;
  }
  grouping_.on_session(event);
  connection_changed_.notify_all();
}

void ClientCore::set_problem(std::string problem, std::optional<ErrorCode> standing) {
  const std::lock_guard guard(mutex_);
  if (connected_) return;  // it has come meanwhile
  if (problem_ != problem) log("warning", problem);
  problem_ = std::move(problem);
  standing_problem_ = standing;
}

// Twice the session's time-out: by then a server that lives has answered, or is not worth waiting for; and a lock that
// was held is long lost.
std::optional<std::string> ClientCore::why_useless() const {
  const std::lock_guard guard(mutex_);
  const lock::TimePoint time = now();
  const lock::Duration patience = 2 * settings_.session_timeout();
  const lock::TimePoint oldest = engine_.oldest_unanswered();
  if (connected_ && oldest != lock::never && time - oldest > patience) {
    return "ZooKeeper answers pings but no requests";
  }
  if (answers_.is_useless(time, patience)) return "ZooKeeper ends each connection before it answers a request";
  return std::nullopt;
}

void ClientCore::session_given_up(const std::string& why) {
  log("warning", why + ": the session is given up");
  const Step step(*this);
  connected_ = false;
  ++statistics_.sessions_expired;
  down_since_ = now();
  grouping_.on_session({.kind = SessionEvent::Kind::expired});
}

}  // namespace forelock::client
