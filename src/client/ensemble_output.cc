// What becomes of the agent's contenders is counted and logged.
#include <string>
#include <utility>

#include "client/client_core.h"

namespace forelock::client {

void EnsembleLink::wake_after_step(std::shared_ptr<agent::ContenderListener> listener) {
  core_.wake_after_step(std::move(listener));
}

void EnsembleLink::let_go_after_step(std::shared_ptr<const void> object) {
  core_.let_go_after_step(std::move(object));
}

void EnsembleLink::note(lock::ContenderId contender, std::string_view text) {
  if (course_) course_->note(contender, text);
}

void EnsembleLink::begins(lock::ContenderId contender, const lock::AcquireSpec& spec) {
  times_.begins(contender, spec.priority, now());
  if (course_) course_->begins(contender, spec, now());
}

void EnsembleLink::granted(lock::ContenderId contender, const lock::Grant& grant) {
  ++statistics_.granted;
  times_.granted(contender, now());
  // Before the grant can be seen: after a silence it is this very step that has proved the session alive.
  publish_deadline();
  if (course_) course_->note(contender, grant_text(grant));
}

void EnsembleLink::taken_again(lock::ContenderId contender, Priority priority) {
  ++statistics_.taken_again;
  times_.taken_again(contender, priority, now());
  note(contender, "is taken again");
}

void EnsembleLink::lingers(lock::ContenderId contender) {
  times_.ended(contender, now());
  note(contender, "stays with the process: its caller has finished");
}

void EnsembleLink::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  ++statistics_.refused;
  times_.ended(contender, now());
  if (course_) course_->note(contender, refusal_text(refusal));
}

void EnsembleLink::lost(lock::ContenderId contender, LossReason reason, bool in_use) {
  if (in_use) {
    ++statistics_.lost;
    ++statistics_.lost_by_reason[static_cast<std::size_t>(reason) - 1];
  }
  times_.ended(contender, now());
  note(contender, loss_text(reason));
}

void EnsembleLink::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  if (outcome == lock::ReleaseOutcome::released) ++statistics_.released;
  times_.ended(contender, now());
  if (course_) course_->note(contender, release_text(outcome));
}

void EnsembleLink::contended(lock::ContenderId contender, Priority waiting) {
  if (course_) course_->note(contender, contention_text(waiting));
}

void EnsembleLink::forgotten(lock::ContenderId contender) {
  times_.ended(contender, now());
  if (courses_) courses_->forgotten(contender);
  if (course_) course_->forgotten(contender);
}

void EnsembleLink::explained(lock::ContenderId contender, const lock::CourseNote& note) {
  if (courses_) courses_->note(contender, note);
  if (course_) course_->note(contender, course_text(note));
}

void EnsembleLink::release_called(lock::ContenderId contender, bool begun) {
  if (begun) times_.ended(contender, now());
}

void EnsembleLink::set_priority_called(lock::ContenderId contender, Priority priority, bool begun) {
  if (begun) times_.moved(contender, priority);
}

void EnsembleLink::step_aside_called(lock::ContenderId contender, bool begun, lock::TimePoint) {
  if (begun) times_.stepped_aside(contender, now());
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
