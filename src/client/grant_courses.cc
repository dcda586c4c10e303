#include "client/grant_courses.h"

#include <utility>

namespace forelock::client {
namespace {

using lock::CourseStep;

// Empty: it is no proof.
std::string_view proof_of(CourseStep step) {
  switch (step) {
    case CourseStep::numbered_first:
      return "number";
    case CourseStep::seen_first:
      return "first_seen";
    case CourseStep::counted_first:
      return "count";
    case CourseStep::listed_first:
      return "listing";
    case CourseStep::resolved_first:
      return "read_after_lost_reply";
    default:
      return {};
  }
}

}  // namespace

void GrantCourses::note(lock::ContenderId contender, const lock::CourseNote& note) {
  Course& kept = courses_[contender];
  if (std::exchange(kept.told, false)) kept.course = {{}, std::move(kept.course.node), {}};
  if (const std::string_view proof = proof_of(note.step); !proof.empty()) kept.course.proof = proof;
  if (note.step == CourseStep::queued || note.step == CourseStep::resolved_queued) kept.course.node = note.node;
  if (note.step == CourseStep::behind && kept.course.behind.empty()) kept.course.behind = note.node;
}

GrantCourse GrantCourses::take(lock::ContenderId contender) {
  const auto found = courses_.find(contender);
  if (found == courses_.end()) return {};
  if (std::exchange(found->second.told, true)) return {"lingered", found->second.course.node, {}};
  return found->second.course;
}

}  // namespace forelock::client
