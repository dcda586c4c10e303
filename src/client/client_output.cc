// What the engine hears and what becomes of its decisions: requests go to the session, the rest to the lock slots.
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"
#include "client/lock_slot.h"

namespace forelock::client {

void ClientCore::send(coordination::RequestTag tag, coordination::Request request) {
  if (!session_) return;  // it has just been given up; its end is on the way
  grouping_.submit(tag, std::move(request));
}

bool ClientCore::withdraw(coordination::RequestTag tag) {
  return grouping_.withdraw(tag);
}

void ClientCore::EngineListener::on_reply(coordination::RequestTag tag, coordination::Reply reply) {
  engine_.on_reply(tag, std::move(reply), now());
}

void ClientCore::EngineListener::on_watch(const coordination::WatchEvent& event) {
  engine_.on_watch(event, now());
}

void ClientCore::EngineListener::on_session(const coordination::SessionEvent& event) {
  engine_.on_session(event, now());
}

void ClientCore::granted(lock::ContenderId contender, const lock::Grant& grant) {
  ++statistics_.granted;
  // Before the grant can be seen: after a silence it is this very step that has proved the session alive.
  publish_deadline();
  linger_.granted(contender, grant.token);
  if (course_) course_->note(contender, grant_text(grant));
  if (auto listener = listener_of(contender)) {
    const lock::Duration margin = listener->granted(contender, grant);
    if (margin > lock::Duration::zero()) danger_.add(contender, margin);
    to_wake_.push_back(std::move(listener));
  }
}

void ClientCore::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  ++statistics_.refused;
  linger_.ended(contender);
  if (course_) course_->note(contender, refusal_text(refusal));
  auto listener = take_listener(contender);
  if (!listener) return;
  listener->refused(contender, refusal);
  to_wake_.push_back(std::move(listener));
}

void ClientCore::lost(lock::ContenderId contender, LossReason reason) {
  if (course_) course_->note(contender, loss_text(reason));
  if (linger_.ended(contender)) return;  // no caller held it
  ++statistics_.lost;
  auto listener = take_listener(contender);
  if (!listener) return;
  listener->lost(contender, reason);
  to_wake_.push_back(std::move(listener));
}

void ClientCore::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  if (outcome == lock::ReleaseOutcome::released) ++statistics_.released;
  linger_.ended(contender);
  if (course_) course_->note(contender, release_text(outcome));
  auto listener = take_listener(contender);
  if (!listener) return;
  listener->released(contender, outcome);
  to_wake_.push_back(std::move(listener));
}

void ClientCore::queued(lock::ContenderId contender, const QueuePosition& position) {
  if (const auto listener = listener_of(contender)) listener->queued(contender, position);
}

void ClientCore::contended(lock::ContenderId contender, Priority waiting) {
  linger_.contended(contender, now());
  if (course_) course_->note(contender, contention_text(waiting));
  if (const auto listener = listener_of(contender)) listener->contended(contender, waiting);
}

void ClientCore::forgotten(lock::ContenderId contender) {
  linger_.ended(contender);
  if (course_) course_->forgotten(contender);
  if (auto listener = take_listener(contender)) to_wake_.push_back(std::move(listener));
}

void ClientCore::explained(lock::ContenderId contender, const lock::CourseNote& note) {
  if (course_) course_->note(contender, course_text(note));
}

void ClientCore::counter_high(const std::string& monitor, std::int64_t number) {
  log("error", "monitor " + monitor + ": its sequence counter has reached " + std::to_string(number) +
                   " of 2147483647; it starts anew when the monitor is idle, so let it become idle soon");
}

}  // namespace forelock::client
