#include "agent/agent.h"

#include <algorithm>
#include <iterator>

#include "agent/mutation.h"

namespace forelock::agent {

using coordination::SessionEvent;

namespace {

constexpr std::size_t fewest_times = 64;

// Who waits is known here; only the first look costs a listing.
constexpr std::chrono::milliseconds between_looks_at_outer_ones{100};

}  // namespace

Agent::Agent(AgentOptions options, AgentHost& host)
    : host_(host),
      engine_(std::move(options.engine), *this),
      grouping_(options.grouping, *this),
      linger_(options.linger) {}

// --- the session ---

void Agent::use(coordination::Session* session) {
  session_ = session;
  grouping_.use(session);
  if (session || !established_) return;
  connected_ = established_ = false;  // closed by ourselves: nobody else will say so
  engine_.on_session({.kind = SessionEvent::Kind::expired}, now());
}

void Agent::on_session_event(const SessionEvent& event) {
  const bool was_connected = std::exchange(connected_, event.kind == SessionEvent::Kind::connected);
  if (connected_) session_timeout_ = event.timeout;
  if (event.kind != SessionEvent::Kind::disconnected) established_ = connected_;
  if (was_connected && event.kind == SessionEvent::Kind::disconnected && !mutated(Mutation::outage_untold)) {
    linger_.disconnected();
  }
  grouping_.on_session(event);
}

void Agent::on_answer(coordination::RequestTag tag, coordination::Reply reply) {
  grouping_.on_reply(tag, std::move(reply));
}

void Agent::on_watch_event(const coordination::WatchEvent& event) {
  if (linger_.on() && event.path.size() > 1 && !mutated(Mutation::changes_untold)) {
    linger_.changed(event.path.substr(1, event.path.find('/', 1) - 1), now());
  }
  // Of what is being released the engine need not look at the queue. But what is gone is not released.
  if (event.kind == coordination::WatchEvent::Kind::children_changed) release_given_up();
  grouping_.on_watch(event);
}

void Agent::on_answered(lock::TimePoint sent, bool write, coordination::ReplyCode code) {
  if (connected_) engine_.on_answered(sent, write, now(), code);
}

void Agent::on_reply(coordination::RequestTag tag, coordination::Reply reply) {
  host_.answered(tag, reply);
  engine_.on_reply(tag, std::move(reply), now());
}

void Agent::on_watch(const coordination::WatchEvent& event) {
  engine_.on_watch(event, now());
}

void Agent::on_session(const SessionEvent& event) {
  engine_.on_session(event, now());
}

// --- steps ---

void Agent::tick() {
  const lock::TimePoint time = now();
  engine_.tick(time);
  linger_.tick(time);
  look_for_danger(time);
  look_behind_outer_ones(time);
  give_up_answers(time);
  tell_time(time);
}

lock::TimePoint Agent::next_timer() {
  lock::TimePoint next = std::min({engine_.next_timer(), linger_.next_timer(), nesting_.next()});
  if (!danger_.empty()) next = std::min(next, danger_.next(now(), engine_.valid_until()));
  if (!unanswered_.empty()) next = std::min(next, unanswered_.front().first);
  if (!times_.empty()) next = std::min(next, times_.begin()->first);
  return next;
}

void Agent::end_step() {
  release_given_up();
  while (!at_end_of_step_.empty() || !changed_records_.empty()) {
    tell_changed_records();
    for (auto& listener : std::exchange(at_end_of_step_, {})) {
      listener->step_ends();
      host_.let_go_after_step(std::move(listener));
    }
    release_given_up();
  }
  grouping_.flush();
}

void Agent::tell_changed_records() {
  for (const auto& [contender, record] : std::exchange(changed_records_, {})) {
    auto listener = listener_of(contender);
    if (!listener) continue;
    listener->record_changed(contender, record);
    host_.let_go_after_step(std::move(listener));
  }
}

void Agent::release_given_up() {
  for (const lock::ContenderId contender : linger_.take_given_up()) {
    if (mutated(Mutation::given_up_kept)) continue;
    host_.given_up(contender, engine_.release(contender, now()));
  }
}

void Agent::look_behind_outer_ones(lock::TimePoint time) {
  for (const lock::ContenderId inner : nesting_.take_due(time, time + between_looks_at_outer_ones)) {
    for (const auto& [outer, section] : nesting_.outer_ones(inner)) {
      if (linger_.section(outer) != section) continue;  // it has been unlocked, whoever has it now
      if (!mutated(Mutation::outer_waiters_unknown)) engine_.want_contention(outer, time);
      if (const auto waiting = engine_.waiting_behind(outer)) engine_.raise(inner, *waiting, time);
    }
  }
}

void Agent::close() {
  // What lingers is released like any other lock, so that its monitor can go, too.
  linger_.disconnected();
  end_step();
  engine_.close(now());
}

void Agent::look_for_danger(lock::TimePoint time) {
  for (const lock::ContenderId contender : danger_.due(time, engine_.valid_until())) {
    if (const auto listener = listener_of(contender)) listener->in_danger(contender);
  }
}

void Agent::give_up_answers(lock::TimePoint time) {
  for (; !unanswered_.empty(); unanswered_.pop_front()) {
    const auto [answer_by, contender] = unanswered_.front();
    auto listener = listener_of(contender);
    if (!listener) continue;
    if (time < answer_by) return;
    listener->release_unanswered(contender);
    host_.let_go_after_step(std::move(listener));
  }
}

void Agent::call_at(lock::TimePoint time, std::weak_ptr<StepListener> listener) {
  if (times_.size() >= most_times_) {
    std::erase_if(times_, [](const auto& entry) { return entry.second.expired(); });
    most_times_ = std::max(fewest_times, 2 * times_.size());
  }
  times_.emplace(time, std::move(listener));
}

void Agent::tell_time(lock::TimePoint time) {
  while (!times_.empty() && times_.begin()->first <= time) {
    auto listener = times_.begin()->second.lock();
    times_.erase(times_.begin());
    if (!listener) continue;
    listener->time_has_come(time);
    host_.let_go_after_step(std::move(listener));
  }
}

// --- what the engine says ---

void Agent::send(coordination::RequestTag tag, coordination::Request request) {
  if (!session_) return;  // it has just been given up; its end is on the way
  host_.sent(tag, request);
  grouping_.submit(tag, std::move(request));
}

bool Agent::withdraw(coordination::RequestTag tag) {
  if (!grouping_.withdraw(tag)) return false;
  host_.withdrawn(tag);
  return true;
}

void Agent::unwanted(coordination::RequestTag tag) {
  grouping_.unwanted(tag);
}

void Agent::granted(lock::ContenderId contender, const lock::Grant& grant) {
  linger_.granted(contender, grant.token);
  nesting_.remove(contender);
  host_.granted(contender, grant);
  auto listener = listener_of(contender);
  if (!listener) return;
  const lock::Duration margin = listener->granted(contender, grant);
  if (margin > lock::Duration::zero()) watch_danger(contender, margin);
  if (margin > lock::Duration::zero() && mutated(Mutation::danger_ahead)) listener->in_danger(contender);
  host_.wake_after_step(std::move(listener));
}

void Agent::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  linger_.ended(contender, refusal.reason != lock::RefusalReason::unavailable);  // a single attempt does not queue
  nesting_.remove(contender);
  host_.refused(contender, refusal);
  auto listener = take_listener(contender);
  if (!listener) return;
  listener->refused(contender, refusal);
  host_.wake_after_step(std::move(listener));
}

void Agent::proved(lock::ContenderId contender) {
  host_.proved(contender);
  if (const auto listener = listener_of(contender)) listener->proved(contender);
}

void Agent::lost(lock::ContenderId contender, LossReason reason) {
  const bool in_use = !linger_.ended(contender);
  nesting_.remove(contender);
  host_.lost(contender, reason, in_use);
  if (!in_use) return;
  auto listener = take_listener(contender);
  if (!listener) return;
  listener->lost(contender, reason);
  host_.wake_after_step(std::move(listener));
}

void Agent::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  linger_.ended(contender);
  host_.released(contender, outcome);
  auto listener = take_listener(contender);
  if (!listener) return;
  listener->released(contender, outcome);
  host_.wake_after_step(std::move(listener));
}

void Agent::queued(lock::ContenderId contender, const QueuePosition& position) {
  host_.queued(contender, position);
  if (const auto listener = listener_of(contender)) listener->queued(contender, position);
}

void Agent::moved(lock::ContenderId contender, Priority rank) {
  linger_.moved(contender);
  host_.moved(contender, rank);
  if (const auto listener = listener_of(contender)) listener->moved(contender, rank);
}

void Agent::record_changed(lock::ContenderId contender, const std::string& record) {
  host_.record_changed(contender, record);
  changed_records_.emplace_back(contender, record);
}

void Agent::contended(lock::ContenderId contender, Priority waiting) {
  if (!mutated(Mutation::contention_untold)) linger_.contended(contender, now());
  host_.contended(contender, waiting);
  if (const auto listener = listener_of(contender)) listener->contended(contender, waiting);
}

void Agent::forgotten(lock::ContenderId contender) {
  linger_.ended(contender);
  nesting_.remove(contender);
  host_.forgotten(contender);
  if (auto listener = take_listener(contender)) host_.wake_after_step(std::move(listener));
}

void Agent::counter_high(const std::string& monitor, std::int64_t number) {
  host_.counter_high(monitor, number);
}

void Agent::removal_denied() {
  host_.removal_denied();
}

void Agent::explained(lock::ContenderId contender, const lock::CourseNote& note) {
  host_.explained(contender, note);
}

}  // namespace forelock::agent
