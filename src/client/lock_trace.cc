#include "client/lock_trace.h"

#include <sys/random.h>

#include <algorithm>
#include <span>
#include <utility>

#include "client/clock.h"

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

// Not all zeros, which would be no id.
void fill_randomly(std::span<std::uint8_t> bytes) {
  do {
    if (getrandom(bytes.data(), bytes.size(), 0) < 0) continue;
  } while (std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; }));
}

std::string_view outcome_text(lock::RefusalReason reason) {
  switch (reason) {
    case lock::RefusalReason::timed_out:
      return "timed_out";
    case lock::RefusalReason::unavailable:
      return "unavailable";
    case lock::RefusalReason::not_admitted:
      return "not_admitted";
    case lock::RefusalReason::cancelled:
      return "cancelled";
    case lock::RefusalReason::connection_lost:
      return "connection_lost";
    case lock::RefusalReason::session_expired:
      return "session_expired";
    case lock::RefusalReason::rejected:
      return "rejected";
    case lock::RefusalReason::closed:
      return "closed";
  }
  return "unknown";
}

// One that does not wait, or is given up, has what it wanted.
bool is_failure(lock::RefusalReason reason) {
  return reason != lock::RefusalReason::unavailable && reason != lock::RefusalReason::cancelled;
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

LockTrace::LockTrace(SpanQueue& spans, LockSpan subject, const std::string& traceparent)
    : spans_(spans), subject_(std::move(subject)), given_parent_(TraceContext::parse(traceparent)) {}

std::optional<TraceContext> LockTrace::parent() const {
  return given_parent_ ? given_parent_ : spans_.tracer().current();
}

void LockTrace::begins(Priority priority, const std::optional<TraceContext>& parent) {
  parent_ = parent;
  span_ = subject_;
  span_.priority = priority;
  stage_ = Stage::waiting;
  if (parent) {
    span_.context = *parent;
    span_.parent_span = parent->span_id;
  } else {
    fill_randomly(span_.context.trace_id);
  }
  begin_span(LockSpan::Kind::acquisition);
}

void LockTrace::begin_span(LockSpan::Kind kind) {
  span_.kind = kind;
  fill_randomly(span_.context.span_id);
  span_.begin = std::chrono::system_clock::now();
  since_ = now();
}

void LockTrace::end_span(std::string_view outcome, bool failed) {
  span_.outcome = outcome;
  span_.failed = failed;
  span_.end = span_.begin + std::chrono::duration_cast<std::chrono::nanoseconds>(now() - since_);
  if (span_.context.sampled) spans_.add(span_);
}

void LockTrace::moved(Priority priority) {
  if (stage_ == Stage::waiting) span_.priority = priority;
}

void LockTrace::queued(std::size_t place) {
  if (stage_ == Stage::waiting) span_.place = place;
}

void LockTrace::granted(lock::Token token, GrantCourse course) {
  if (stage_ != Stage::waiting) return;
  span_.token = token;
  span_.proof = course.proof;
  span_.node = std::move(course.node);
  span_.behind = std::move(course.behind);
  end_span("granted", false);
  stage_ = Stage::held;
  span_.proof = {};
  span_.behind.clear();
  span_.place = 0;
  if (!parent_) span_.parent_span = span_.context.span_id;
  begin_span(LockSpan::Kind::hold);
}

void LockTrace::refused(const lock::Refusal& refusal) {
  if (std::exchange(stage_, Stage::none) != Stage::waiting) return;
  if (refusal.position) {
    span_.place = refusal.position->place;
    span_.behind = refusal.position->behind;
  }
  end_span(outcome_text(refusal.reason), is_failure(refusal.reason));
}

void LockTrace::lost(LossReason reason) {
  if (std::exchange(stage_, Stage::none) != Stage::none) end_span(name_of(reason), true);
}

void LockTrace::ended() {
  const Stage before = std::exchange(stage_, Stage::none);
  if (before != Stage::none) end_span(before == Stage::held ? "released" : "cancelled", false);
}

void LockTrace::stepped_aside() {
  if (stage_ != Stage::held) return;
  const Priority priority = span_.priority;
  end_span("stepped_aside", false);
  std::optional<TraceContext> parent = parent_;
  const TraceContext hold = span_.context;
  begins(priority, parent);
  if (parent) return;
  span_.context.trace_id = hold.trace_id;  // it goes on where it began
  span_.parent_span = hold.span_id;
}

std::optional<TraceContext> LockTrace::hold() const {
  if (stage_ != Stage::held) return std::nullopt;
  return span_.context.sampled ? span_.context : parent_;
}

}  // namespace forelock::client
