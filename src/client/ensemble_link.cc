#include "client/ensemble_link.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"
#include "zookeeper/connect_string.h"

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

std::string name_of(const Settings& settings) {
  std::string name;
  for (const ServerAddress& server : settings.servers()) {
    name += (name.empty() ? "" : ",") + zookeeper::to_string(zookeeper::ServerName{server.host, server.port});
  }
  return name + settings.chroot();
}

}  // namespace

EnsembleLink::EnsembleLink(ClientCore& core, bool explain)
    : core_(core),
      name_(name_of(core.settings())),
      engine_(engine_options(core.settings(), explain), *this),
      linger_({.time = core.settings().linger(),
               .locks = core.settings().linger_max(),
               .reused = core.settings().linger_reused(),
               .delay = core.settings().release_delay()}),
      next_own_tag_(own_tags),
      down_since_(now()),
      keeper_(*this) {}

EnsembleLink::~EnsembleLink() = default;

void EnsembleLink::start(ClientUse use) {
  keeper_.start(use == ClientUse::locks);
}

void EnsembleLink::log(std::string_view level, std::string_view message) {
  core_.log(level, message);
}

bool EnsembleLink::in_forked_child() const {
  return core_.in_forked_child();
}

// --- lock slots and readers ---

bool EnsembleLink::wait_connected(std::chrono::milliseconds timeout) {
  std::unique_lock guard(core_.mutex_);
  const auto decided = [this] { return connected_ || core_.closed_; };
  if (const lock::TimePoint deadline = deadline_after(timeout); deadline == lock::never) {
    core_.connection_changed_.wait(guard, decided);
  } else {
    core_.connection_changed_.wait_until(guard, to_steady(deadline), decided);
  }
  return connected();
}

void EnsembleLink::tick() {
  const ClientCore::Step step(core_);
  engine_.tick(now());
}

void EnsembleLink::watch_danger(const ContenderListener& caller, lock::ContenderId contender, lock::Duration margin) {
  const ClientCore::Step step(core_);
  if (core_.listener_of(contender).get() == &caller) danger_.add(contender, margin);
}

std::string EnsembleLink::last_problem() const {
  const std::lock_guard guard(core_.mutex_);
  return problem_;
}

std::optional<ErrorCode> EnsembleLink::standing_problem() const {
  const std::lock_guard guard(core_.mutex_);
  return standing_problem_;
}

// --- steps ---

void EnsembleLink::end_of_step() {
  grouping_.flush();
  publish_deadline();
}

// Heartbeats keep more than a third of the time-out ahead while they are answered.
void EnsembleLink::publish_deadline() {
  const lock::TimePoint valid_until = engine_.valid_until();
  suspect_from_.store(nanoseconds(valid_until - session_timeout_.load() / 3), std::memory_order_release);
  valid_until_.store(nanoseconds(valid_until), std::memory_order_release);
}

lock::TimePoint EnsembleLink::next_timer() {
  lock::TimePoint next = std::min(engine_.next_timer(), linger_.next_timer());
  if (!danger_.empty()) next = std::min(next, danger_.next(now(), engine_.valid_until()));
  return next;
}

void EnsembleLink::tick_in_step(lock::TimePoint time) {
  engine_.tick(time);
  linger_.tick(time);
  look_for_danger(time);
}

void EnsembleLink::look_for_danger(lock::TimePoint time) {
  for (const lock::ContenderId contender : danger_.due(time, engine_.valid_until())) {
    if (const auto listener = core_.listener_of(contender)) listener->in_danger(contender);
  }
}

// --- requests beside the protocol ---

void EnsembleLink::submit_own(coordination::Request request, OwnRequest own) {
  const auto tag = next_own_tag_++;
  for (const lock::ContenderId contender : own.guards) ++guarded_writes_[contender];
  own.sent = now();
  own_requests_.emplace(tag, std::move(own));
  ++core_.statistics_.requests;
  session_->submit(tag, std::move(request));
}

void EnsembleLink::request(coordination::Request request, ReplyHandler handler) {
  core_.check_usable();
  {
    const std::lock_guard guard(core_.mutex_);
    if (connected_ && session_) return submit_own(std::move(request), {.handler = std::move(handler)});
    if (!core_.closed_ && waiting_requests_.size() < max_waiting_requests) {
      waiting_requests_.push_back({std::move(request), std::move(handler)});
      core_.ticker_.wake_by(now() + engine_.patience());
      return;
    }
  }
  Reply refused;
  refused.code = ReplyCode::connection_loss;
  handler(std::move(refused));
}

std::future<Reply> EnsembleLink::request(coordination::Request request) {
  auto promise = std::make_shared<std::promise<Reply>>();
  auto future = promise->get_future();
  this->request(std::move(request), [promise](Reply reply) { promise->set_value(std::move(reply)); });
  return future;
}

bool EnsembleLink::guarded_transaction(const ContenderListener& caller,
                                       const std::vector<lock::ContenderId>& contenders,
                                       std::vector<coordination::Operation> operations, ReplyHandler handler) {
  core_.check_usable();
  const std::lock_guard guard(core_.mutex_);
  if (!connected_ || !session_) return false;
  coordination::Transaction transaction;
  for (const lock::ContenderId contender : contenders) {
    if (core_.listener_of(contender).get() != &caller) return false;
    auto checks = engine_.guard(contender);
    if (!checks) return false;
    std::move(checks->begin(), checks->end(), std::back_inserter(transaction.operations));
  }
  std::move(operations.begin(), operations.end(), std::back_inserter(transaction.operations));
  submit_own(std::move(transaction), {.handler = std::move(handler), .write = true, .guards = contenders});
  return true;
}

std::vector<EnsembleLink::WaitingRequest> EnsembleLink::take_expired(lock::TimePoint time, lock::TimePoint& next) {
  if (waiting_requests_.empty() || connected_) return {};
  const lock::TimePoint give_up = down_since_ + engine_.patience();
  if (give_up <= time) return std::exchange(waiting_requests_, {});
  next = std::min(next, give_up);
  return {};
}

void EnsembleLink::refuse_requests(const std::vector<WaitingRequest>& requests) {
  for (const WaitingRequest& request : requests) {
    Reply reply;
    reply.code = ReplyCode::connection_loss;
    request.handler(std::move(reply));
  }
}

// --- the session ---

void EnsembleLink::use_session(coordination::Session* session) {
  const ClientCore::Step step(core_);
  session_ = session;
  grouping_.use(session);
  if (!session && connected_) {  // closed by ourselves: nobody else will say so
    connected_ = false;
    engine_.on_session({.kind = SessionEvent::Kind::expired}, now());
  }
}

void EnsembleLink::on_reply(coordination::RequestTag tag, Reply reply, bool current) {
  const bool answered = current && coordination::answered_by_server(reply.code);
  if (tag < own_tags) {
    if (!current) return;
    const ClientCore::Step step(core_);
    if (answered) answers_.answered(now());
    grouping_.on_reply(tag, std::move(reply));
    return;
  }
  ReplyHandler handler;
  {
    const ClientCore::Step step(core_);
    const auto found = own_requests_.find(tag);
    if (found == own_requests_.end()) return;
    handler = std::move(found->second.handler);
    if (answered) {
      const lock::TimePoint time = now();
      answers_.answered(time);
      if (connected_) engine_.on_answered(found->second.sent, found->second.write, time, reply.code);
    }
    for (const lock::ContenderId contender : found->second.guards) {
      if (--guarded_writes_.at(contender) == 0) guarded_writes_.erase(contender);
    }
    own_requests_.erase(found);
  }
  handler(std::move(reply));
}

void EnsembleLink::on_watch(const coordination::WatchEvent& event) {
  const ClientCore::Step step(core_);
  if (linger_.on() && event.path.size() > 1) linger_.changed(event.path.substr(1, event.path.find('/', 1) - 1), now());
  // Of what is being released the engine need not look at the queue. But what is gone is not released.
  if (event.kind == coordination::WatchEvent::Kind::children_changed) release_given_up();
  grouping_.on_watch(event);
}

void EnsembleLink::on_session(const SessionEvent& event) {
  const ClientCore::Step step(core_);
  if (core_.closed_ || !session_) return;  // the session that tells this has been given up meanwhile
  if (event.kind == SessionEvent::Kind::connected) {
    if (session_id_.exchange(event.session) != event.session) answers_.opened(now());
    return report_connected(event);
  }
  const bool was_connected = connected_.exchange(false);
  switch (event.kind) {
    case SessionEvent::Kind::connected:
      break;
    case SessionEvent::Kind::disconnected:
      answers_.disconnected();
      if (!was_connected) return;
      ++core_.statistics_.disconnections;
      linger_.disconnected();
      down_since_ = now();
      break;
    case SessionEvent::Kind::expired:
      ++core_.statistics_.sessions_expired;
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
  core_.connection_changed_.notify_all();
}

void EnsembleLink::report_connected(const SessionEvent& event) {
  connected_ = true;
  session_timeout_ = event.timeout;
  problem_.clear();
  standing_problem_.reset();
  for (WaitingRequest& waiting : std::exchange(waiting_requests_, {})) {
    submit_own(std::move(waiting.request), {.handler = std::move(waiting.handler)});
  }
  grouping_.on_session(event);
  core_.connection_changed_.notify_all();
}

void EnsembleLink::set_problem(std::string problem, std::optional<ErrorCode> standing) {
  const std::lock_guard guard(core_.mutex_);
  if (connected_) return;  // it has come meanwhile
  if (problem_ != problem) log("warning", problem);
  problem_ = std::move(problem);
  standing_problem_ = standing;
}

std::chrono::milliseconds EnsembleLink::longest_session_timeout() const {
  return std::max(core_.settings().session_timeout(), session_timeout());
}

lock::TimePoint EnsembleLink::down_since() const {
  const std::lock_guard guard(core_.mutex_);
  return down_since_;
}

// Twice the session's time-out: by then a server that lives has answered, or is not worth waiting for; and a lock that
// was held is long lost.
std::optional<std::string> EnsembleLink::why_useless() const {
  const std::lock_guard guard(core_.mutex_);
  const lock::TimePoint time = now();
  const lock::Duration patience = 2 * core_.settings().session_timeout();
  const lock::TimePoint oldest = engine_.oldest_unanswered();
  // The oldest one may not even have been sent, behind thousands that are answered one group after the other.
  const bool waits = connected_ && oldest != lock::never && time - oldest > patience;
  if (waits && answers_.is_silent(time, patience)) return "ZooKeeper answers pings but no requests";
  if (answers_.is_useless(time, patience)) return "ZooKeeper ends each connection before it answers a request";
  return std::nullopt;
}

void EnsembleLink::session_given_up(const std::string& why) {
  log("warning", why + ": the session is given up");
  const ClientCore::Step step(core_);
  connected_ = false;
  ++core_.statistics_.sessions_expired;
  down_since_ = now();
  grouping_.on_session({.kind = SessionEvent::Kind::expired});
}

}  // namespace forelock::client
