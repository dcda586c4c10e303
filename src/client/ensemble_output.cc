// What the engine hears and what becomes of its decisions: requests go to the session, the rest to the lock slots.
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"
#include "client/lock_slot.h"

namespace forelock::client {

void EnsembleLink::send(coordination::RequestTag tag, coordination::Request request) {
  if (!session_) return;  // it has just been given up; its end is on the way
  grouping_.submit(tag, std::move(request));
}

bool EnsembleLink::withdraw(coordination::RequestTag tag) {
  return grouping_.withdraw(tag);
}

void EnsembleLink::unwanted(coordination::RequestTag tag) {
  grouping_.unwanted(tag);
}

void EnsembleLink::EngineListener::on_reply(coordination::RequestTag tag, coordination::Reply reply) {
  engine_.on_reply(tag, std::move(reply), now());
}

void EnsembleLink::EngineListener::on_watch(const coordination::WatchEvent& event) {
  engine_.on_watch(event, now());
}

void EnsembleLink::EngineListener::on_session(const coordination::SessionEvent& event) {
  engine_.on_session(event, now());
}

void EnsembleLink::granted(lock::ContenderId contender, const lock::Grant& grant) {
  ++core_.statistics_.granted;
  // Before the grant can be seen: after a silence it is this very step that has proved the session alive.
  publish_deadline();
  linger_.granted(contender, grant.token);
  if (core_.course_) core_.course_->note(contender, grant_text(grant));
  if (auto listener = core_.listener_of(contender)) {
    const lock::Duration margin = listener->granted(contender, grant);
    if (margin > lock::Duration::zero()) danger_.add(contender, margin);
    core_.to_wake_.push_back(std::move(listener));
  }
}

void EnsembleLink::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  ++core_.statistics_.refused;
  linger_.ended(contender, refusal.reason != lock::RefusalReason::unavailable);  // a single attempt does not queue
  if (core_.course_) core_.course_->note(contender, refusal_text(refusal));
  auto listener = core_.take_listener(contender);
  if (!listener) return;
  listener->refused(contender, refusal);
  core_.to_wake_.push_back(std::move(listener));
}

void EnsembleLink::proved(lock::ContenderId contender) {
  if (const auto listener = core_.listener_of(contender)) listener->proved(contender);
}

void EnsembleLink::lost(lock::ContenderId contender, LossReason reason) {
  if (core_.course_) core_.course_->note(contender, loss_text(reason));
  if (linger_.ended(contender)) return;  // no caller held it
  ++core_.statistics_.lost;
  auto listener = core_.take_listener(contender);
  if (!listener) return;
  listener->lost(contender, reason);
  core_.to_wake_.push_back(std::move(listener));
}

void EnsembleLink::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  if (outcome == lock::ReleaseOutcome::released) ++core_.statistics_.released;
  linger_.ended(contender);
  if (core_.course_) core_.course_->note(contender, release_text(outcome));
  auto listener = core_.take_listener(contender);
  if (!listener) return;
  listener->released(contender, outcome);
  core_.to_wake_.push_back(std::move(listener));
}

void EnsembleLink::queued(lock::ContenderId contender, const QueuePosition& position) {
  if (const auto listener = core_.listener_of(contender)) listener->queued(contender, position);
}

void EnsembleLink::contended(lock::ContenderId contender, Priority waiting) {
  linger_.contended(contender, now());
  if (core_.course_) core_.course_->note(contender, contention_text(waiting));
  if (const auto listener = core_.listener_of(contender)) listener->contended(contender, waiting);
}

void EnsembleLink::forgotten(lock::ContenderId contender) {
  linger_.ended(contender);
  if (core_.course_) core_.course_->forgotten(contender);
  if (auto listener = core_.take_listener(contender)) core_.to_wake_.push_back(std::move(listener));
}

void EnsembleLink::explained(lock::ContenderId contender, const lock::CourseNote& note) {
  if (core_.course_) core_.course_->note(contender, course_text(note));
}

void EnsembleLink::counter_high(const std::string& monitor, std::int64_t number) {
  log("error", "monitor " + monitor + ": its sequence counter has reached " + std::to_string(number) +
                   " of 2147483647; it starts anew when the monitor is idle, so let it become idle soon");
}

void EnsembleLink::removal_denied() {
  log("warning",
      "unused monitors stay on the server, which refuses their removal: this client needs the permission to delete "
      "below the namespace; until then run 'forelock sweep' as a user who has it, or use containers "
      "(zookeeper.monitor.linger=0)");
}

}  // namespace forelock::client
