#include "client/client_core.h"

#include <algorithm>
#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"
#include "records/instance.h"

namespace forelock::client {

namespace {

// The ensembles of the settings, in the order of the map.
std::vector<EnsembleLink::Place> places_of(const Settings& settings) {
  std::vector<EnsembleLink::Place> places;
  for (const std::vector<ServerAddress>& servers : settings.ensembles()) {
    places.push_back({0, ensembles::identity_of(servers, settings.chroot()), servers});
  }
  std::sort(places.begin(), places.end(),
            [](const EnsembleLink::Place& a, const EnsembleLink::Place& b) { return a.identity < b.identity; });
  for (std::size_t i = 0; i < places.size(); ++i) places[i].number = i;
  return places;
}

ensembles::EnsembleMap map_of(const std::vector<EnsembleLink::Place>& places) {
  std::vector<std::string> identities;
  identities.reserve(places.size());
  for (const EnsembleLink::Place& place : places) identities.push_back(place.identity);
  return ensembles::EnsembleMap(std::move(identities));
}

}  // namespace

ClientCore::ClientCore(Settings settings, LogSink log, LogDetail detail)
    : settings_(std::move(settings)),
      instance_(records::process_identity()),
      map_(map_of(places_of(settings_))),
      log_(std::move(log)),
      ticker_([this] { return on_timer(); }),
      dispatcher_("forelock-disp", [this](lock::TimePoint time) { call_begins(time); }),
      stopper_("forelock-stop", [this](lock::TimePoint time) { call_begins(time); }),
      call_watch_({&dispatcher_, &stopper_}, log_) {
  const bool explain = log_.has_sink() && detail == LogDetail::debug;
  for (EnsembleLink::Place& place : places_of(settings_)) {
    links_.push_back(std::make_unique<EnsembleLink>(*this, std::move(place), explain));
  }
  if (explain) course_.emplace(log_);
  if (links_.size() > 1) {
    agreement_.emplace(map_);
    for (const auto& link : links_) link->looks_at_map_ = true;
  }
}

ClientCore::~ClientCore() {
  close();
}

void ClientCore::start(ClientUse use) {
  if (agreement_ && use != ClientUse::locks) agreement_->only_look();
  for (const auto& link : links_) link->start(use);
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
  for (const auto& link : links_) {
    link->keeper_.stop();
    std::vector<EnsembleLink::WaitingRequest> waiting;
    {
      const std::lock_guard guard(mutex_);
      waiting = std::exchange(link->waiting_requests_, {});
      connection_changed_.notify_all();
    }
    EnsembleLink::refuse_requests(waiting);
  }
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
    for (const auto& link : links_) link->linger_.disconnected();
  }
  {
    const Step step(*this);
    for (const auto& link : links_) link->engine_.close(now());
  }
  for (const auto& link : links_) link->keeper_.begin_stop();  // all at once: each may wait for silent servers
}

bool ClientCore::on_callback_thread() const {
  return dispatcher_.on_this_thread() || stopper_.on_this_thread() || log_.on_this_thread();
}

void ClientCore::check_open() const {
  if (in_forked_child()) {
    throw RequestRejectedException(ErrorCode::forked, {}, "this client belongs to the parent process",
                                   "make a new forelock::Client after fork()");
  }
  if (closed_) throw RequestRejectedException(ErrorCode::closed, {}, "the client is closed");
}

void ClientCore::check_usable() const {
  check_open();
  if (!refused_) return;
  const std::lock_guard guard(mutex_);
  if (refusal_.empty()) return;
  throw RequestRejectedException(ErrorCode::ensembles_differ, {}, refusal_,
                                 "forelock ensembles shows what each ensemble has");
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
  const bool begun = link_of(contender).end_section(contender);
  return begun;
}

bool ClientCore::release(lock::ContenderId contender, lock::TimePoint answer_by) {
  const Step step(*this);
  const bool begun = link_of(contender).end_section(contender);
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
  EnsembleLink& link = link_of(contender);
  const bool begun = link.end_section(contender) || link.engine_.cancel(contender, now());
  return begun;
}

bool ClientCore::cancel(const ContenderListener& caller, lock::ContenderId contender) {
  const Step step(*this);
  return listener_of(contender).get() == &caller && link_of(contender).engine_.cancel(contender, now());
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
  link_of(contender).danger_.remove(contender);
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
  const std::chrono::milliseconds negotiated = session_timeout();
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
    for (const auto& link : links_) link->tick_in_step(time);
    next = std::min(give_up_answers(time, looked_at), tell_time(time, looked_at));
    next = std::min(next, next_timer());
    for (const auto& link : links_) {
      for (auto& request : link->take_expired(time, next)) expired.push_back(std::move(request));
    }
  }
  EnsembleLink::refuse_requests(expired);
  return std::min(next, call_watch_.look(now(), slow_call()));
}

lock::TimePoint ClientCore::next_timer() {
  lock::TimePoint next = lock::never;
  for (const auto& link : links_) next = std::min(next, link->next_timer());
  return next;
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

bool ClientCore::connected() const {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->connected(); });
}

bool ClientCore::wait_connected(std::chrono::milliseconds timeout) {
  {
    std::unique_lock guard(mutex_);
    const auto decided = [this] {
      const bool ready = std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->connected(); });
      return ready || closed_ || refused_;
    };
    if (const lock::TimePoint deadline = deadline_after(timeout); deadline == lock::never) {
      connection_changed_.wait(guard, decided);
    } else {
      connection_changed_.wait_until(guard, to_steady(deadline), decided);
    }
  }
  check_usable();
  return connected();
}

std::chrono::milliseconds ClientCore::session_timeout() const {
  std::chrono::milliseconds shortest{0};
  for (const auto& link : links_) {
    const std::chrono::milliseconds negotiated = link->session_timeout();
    if (shortest.count() == 0 || (negotiated.count() != 0 && negotiated < shortest)) shortest = negotiated;
  }
  return shortest;
}

std::chrono::milliseconds ClientCore::longest_session_timeout() const {
  std::chrono::milliseconds longest{0};
  for (const auto& link : links_) longest = std::max(longest, link->session_timeout());
  return longest;
}

std::string ClientCore::last_problem() const {
  if (links_.size() == 1) return links_.front()->last_problem();
  std::string problems;
  for (const auto& link : links_) {
    const std::string problem = link->last_problem();
    if (!problem.empty()) problems += (problems.empty() ? "" : "; ") + link->name() + ": " + problem;
  }
  return problems;
}

std::optional<ErrorCode> ClientCore::standing_problem() const {
  for (const auto& link : links_) {
    if (const auto standing = link->standing_problem()) return standing;
  }
  return std::nullopt;
}

ClientStatistics ClientCore::statistics() const {
  const std::lock_guard guard(mutex_);
  ClientStatistics statistics = statistics_;
  for (const auto& link : links_) {
    statistics.requests += link->grouping_.requests();
    statistics.contenders += link->engine_.contenders();
    statistics.lingering += link->linger_.lingering();
  }
  return statistics;
}

}  // namespace forelock::client
