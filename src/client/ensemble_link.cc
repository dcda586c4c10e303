#include "client/ensemble_link.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"
#include "client/session_setup.h"
#include "zookeeper/zookeeper_session.h"

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

agent::AgentOptions agent_options(const Settings& settings, bool explain) {
  agent::AgentOptions all;
  all.linger.time = settings.linger();
  all.linger.locks = settings.linger_max();
  all.linger.reused = settings.linger_reused();
  all.linger.delay = settings.release_delay();
  lock::EngineOptions& options = all.engine;
  for (const Priority priority : all_priorities) options.prefixes[priority] = settings.prefix(priority);
  options.watch_mode = settings.watch_mode();
  options.background_max_wait = settings.background_max_wait();
  options.monitor_linger = settings.monitor_linger();
  if (options.monitor_linger > lock::Duration()) {
    options.monitor_linger = std::max<lock::Duration>(options.monitor_linger, least_monitor_linger);
  }
  options.others_linger = settings.linger() > lock::Duration();
  options.give_up_after = settings.connection_retry() * settings.connection_delay();
  options.watched_bytes = zookeeper::most_watched_bytes();
  options.root_bytes = all.grouping.root_bytes = settings.chroot().size();
  options.explain = explain;
  return all;
}

}  // namespace

EnsembleLink::EnsembleLink(ClientCore& core, bool explain)
    : core_(core),
      name_(ensemble_name(core.settings())),
      agent_(agent_options(core.settings(), explain || core.spans() != nullptr), *this),
      next_own_tag_(own_tags),
      down_since_(now()),
      keeper_(*this) {
  if (explain) course_.emplace(core.client_log());
  if (core.spans() != nullptr) courses_.emplace();
}

EnsembleLink::~EnsembleLink() = default;

void EnsembleLink::start(ClientUse use) {
  keeper_.start(use);
}

void EnsembleLink::log(std::string_view level, std::string_view message) {
  core_.log(level, message);
}

bool EnsembleLink::in_forked_child() const {
  return core_.in_forked_child();
}

void EnsembleLink::begin_close() {
  {
    const ClientCore::Step step(core_);
    agent_.close();
  }
  keeper_.begin_stop();
}

void EnsembleLink::end_session() {
  keeper_.stop();
  std::vector<WaitingRequest> waiting;
  {
    const std::lock_guard guard(core_.mutex());
    waiting = std::exchange(waiting_requests_, {});
    connection_changed_.notify_all();
  }
  refuse_requests(waiting);
}

// --- lock slots and readers ---

bool EnsembleLink::wait_connected(std::chrono::milliseconds timeout) {
  std::unique_lock guard(core_.mutex());
  const auto decided = [this] { return connected_ || core_.is_closed(); };
  if (const lock::TimePoint deadline = deadline_after(timeout); deadline == lock::never) {
    connection_changed_.wait(guard, decided);
  } else {
    connection_changed_.wait_until(guard, to_steady(deadline), decided);
  }
  return connected();
}

lock::TimePoint EnsembleLink::tick() {
  std::vector<WaitingRequest> expired;
  lock::TimePoint next = lock::never;
  {
    const ClientCore::Step step(core_);
    agent_.tick();
    next = agent_.next_timer();
    expired = take_expired(now(), next);
  }
  refuse_requests(expired);
  return next;
}

ClientStatistics EnsembleLink::statistics() const {
  const std::lock_guard guard(core_.mutex());
  ClientStatistics statistics = statistics_;
  statistics.requests += agent_.requests();
  statistics.contenders = agent_.engine().contenders();
  statistics.lingering = agent_.lingering();
  times_.fill(statistics);
  return statistics;
}

std::string EnsembleLink::last_problem() const {
  const std::lock_guard guard(core_.mutex());
  return problem_;
}

std::optional<ErrorCode> EnsembleLink::standing_problem() const {
  const std::lock_guard guard(core_.mutex());
  return standing_problem_;
}

// --- steps ---

lock::TimePoint EnsembleLink::end_step() {
  agent_.end_step();
  publish_deadline();
  return agent_.next_timer();
}

// Heartbeats keep more than a third of the time-out ahead while they are answered.
void EnsembleLink::publish_deadline() {
  const lock::TimePoint valid_until = agent_.engine().valid_until();
  suspect_from_.store(nanoseconds(valid_until - session_timeout_.load() / 3), std::memory_order_release);
  valid_until_.store(nanoseconds(valid_until), std::memory_order_release);
}

// --- requests beside the protocol ---

void EnsembleLink::submit_own(coordination::Request request, OwnRequest own) {
  const auto tag = next_own_tag_++;
  own.sent = now();
  own_requests_.emplace(tag, std::move(own));
  ++statistics_.requests;
  session_->submit(tag, std::move(request));
}

void EnsembleLink::request(coordination::Request request, ReplyHandler handler) {
  core_.check_usable();
  {
    const std::lock_guard guard(core_.mutex());
    if (connected_ && session_) return submit_own(std::move(request), {.handler = std::move(handler)});
    if (!core_.is_closed() && waiting_requests_.size() < max_waiting_requests) {
      waiting_requests_.push_back({std::move(request), std::move(handler)});
      core_.wake_by(now() + agent_.engine().patience());
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

void EnsembleLink::tell_also(WatchObserver* observer) {
  const std::lock_guard guard(core_.mutex());
  observer_ = observer;
  if (observer_ != nullptr && connected_) observer_->on_session(session_id());
}

bool EnsembleLink::guarded_transaction(const agent::ContenderListener& caller,
                                       const std::vector<lock::ContenderId>& contenders,
                                       std::vector<coordination::Operation> operations, ReplyHandler handler) {
  core_.check_usable();
  const std::lock_guard guard(core_.mutex());
  if (!connected_ || !session_) return false;
  auto transaction = agent_.begin_guarded_write(caller, contenders, std::move(operations));
  if (!transaction) return false;
  submit_own(*std::move(transaction), {.handler = std::move(handler), .write = true, .guards = contenders});
  return true;
}

std::vector<EnsembleLink::WaitingRequest> EnsembleLink::take_expired(lock::TimePoint time, lock::TimePoint& next) {
  if (waiting_requests_.empty() || connected_) return {};
  const lock::TimePoint give_up = down_since_ + agent_.engine().patience();
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
  seen_tokens_.session_ended();
  session_ = session;
  if (!session) connected_ = false;
  agent_.use(session);
}

void EnsembleLink::on_reply(coordination::RequestTag tag, Reply reply, bool current) {
  const bool answered = current && coordination::answered_by_server(reply.code);
  if (tag < own_tags) {
    if (!current) return;
    const ClientCore::Step step(core_);
    if (answered) answers_.answered(now());
    agent_.on_answer(tag, std::move(reply));
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
      agent_.on_answered(found->second.sent, found->second.write, reply.code);
    }
    agent_.end_guarded_write(found->second.guards);
    own_requests_.erase(found);
  }
  handler(std::move(reply));
}

void EnsembleLink::on_watch(const coordination::WatchEvent& event) {
  const ClientCore::Step step(core_);
  seen_tokens_.changed(event.path);
  if (observer_ != nullptr) observer_->on_watch(event);
  if (event.path.size() > 1) agent_.on_watch_event(event);  // no monitor is the root
}

void EnsembleLink::on_session(const SessionEvent& event) {
  const ClientCore::Step step(core_);
  if (core_.is_closed() || !session_) return;  // the session that tells this has been given up meanwhile
  seen_tokens_.connection_changed();
  if (event.kind == SessionEvent::Kind::connected) {
    if (session_id_.exchange(event.session) != event.session) answers_.opened(now());
    connected_ = true;
    if (observer_ != nullptr) observer_->on_session(event.session);
    session_timeout_ = event.timeout;
    problem_.clear();
    standing_problem_.reset();
    for (WaitingRequest& waiting : std::exchange(waiting_requests_, {})) {
      submit_own(std::move(waiting.request), {.handler = std::move(waiting.handler)});
    }
    agent_.on_session_event(event);
    connection_changed_.notify_all();
    return;
  }
  const bool was_connected = connected_.exchange(false);
  switch (event.kind) {
    case SessionEvent::Kind::connected:
      break;
    case SessionEvent::Kind::disconnected:
      answers_.disconnected();
      if (!was_connected) return;
      ++statistics_.disconnections;
      down_since_ = now();
      break;
    case SessionEvent::Kind::expired:
      ++statistics_.sessions_expired;
      down_since_ = now();
      log("warning", "the ZooKeeper session has expired; its locks are lost");
      break;
    case SessionEvent::Kind::auth_failed:
      problem_ =
          !event.problem.empty() ? event.problem : "ZooKeeper refuses the credentials of zookeeper.auth.digest.file";
      standing_problem_ = ErrorCode::not_authorized;
      log("error", problem_);
      break;
  }
  agent_.on_session_event(event);
  connection_changed_.notify_all();
}

void EnsembleLink::set_problem(std::string problem, std::optional<ErrorCode> standing) {
  const std::lock_guard guard(core_.mutex());
  if (connected_) return;  // it has come meanwhile
  if (problem_ != problem) log("warning", problem);
  problem_ = std::move(problem);
  standing_problem_ = standing;
}

std::chrono::milliseconds EnsembleLink::longest_session_timeout() const {
  return std::max(core_.settings().session_timeout(), session_timeout());
}

lock::TimePoint EnsembleLink::down_since() const {
  const std::lock_guard guard(core_.mutex());
  return down_since_;
}

// Twice the session's time-out: by then a server that lives has answered, or is not worth waiting for; and a lock that
// was held is long lost.
std::optional<std::string> EnsembleLink::why_useless() const {
  const std::lock_guard guard(core_.mutex());
  const lock::TimePoint time = now();
  const lock::Duration patience = 2 * core_.settings().session_timeout();
  const lock::TimePoint oldest = agent_.engine().oldest_unanswered();
  // The oldest one may not even have been sent, behind thousands that are answered one group after the other.
  const bool waits = connected_ && oldest != lock::never && time - oldest > patience;
  if (waits && answers_.is_silent(time, patience)) return "ZooKeeper answers pings but no requests";
  if (answers_.is_useless(time, patience)) return "ZooKeeper ends each connection before it answers a request";
  return std::nullopt;
}

void EnsembleLink::session_given_up(const std::string& why) {
  log("warning", why + ": the session is given up");
  const ClientCore::Step step(core_);
  seen_tokens_.connection_changed();
  connected_ = false;
  ++statistics_.sessions_expired;
  down_since_ = now();
  agent_.on_session_event({.kind = SessionEvent::Kind::expired});
}

}  // namespace forelock::client
