// A LockTrace makes the spans of one lock object: of its acquisition, and of the hold after it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time_point.h"
#include "client/span_queue.h"
#include "forelock/lock_types.h"
#include "forelock/tracing.h"
#include "lock/course.h"
#include "lock/engine_types.h"

namespace forelock::client {

// What is known of a grant besides its token.
struct GrantCourse {
  std::string_view proof;
  std::string node;
  std::string behind;
};

// GrantCourses keep what the engine says of contenders on their way to a grant, for their spans. Pure.
class GrantCourses {
 public:
  void note(lock::ContenderId contender, const lock::CourseNote& note);
  // Of the grant that is being told. Of a lock that was here already nothing new was noted.
  GrantCourse take(lock::ContenderId contender);
  void forgotten(lock::ContenderId contender) { courses_.erase(contender); }

 private:
  struct Course {
    GrantCourse course;
    bool told = false;  // and what is noted from then on is of another grant
  };

  std::unordered_map<lock::ContenderId, Course> courses_;
};

// Not synchronised, but for parent(): its owner's mutex guards it. What comes in another order than that of an
// acquisition counts for nothing.
class LockTrace {
 public:
  // `subject`: what its spans have in common: monitor, lock_info, members. \param spans outlives it.
  LockTrace(SpanQueue& spans, LockSpan subject, const std::string& traceparent);

  // Of the span that calls an acquisition now. Calls the tracer, so not with a mutex.
  std::optional<TraceContext> parent() const;

  void begins(Priority priority, const std::optional<TraceContext>& parent);
  // Its class from now on, while it waits.
  void moved(Priority priority);
  void queued(std::size_t place);
  void granted(lock::Token token, GrantCourse course);
  void refused(const lock::Refusal& refusal);
  // Also of one that has stepped aside.
  void lost(LossReason reason);
  // Held: and the caller has called its release. Waiting: it is cancelled.
  void ended();
  // A hold ends, and an acquisition begins with the same parent.
  void stepped_aside();

  // Of the hold, or, where the trace is not sampled, of the caller's span.
  std::optional<TraceContext> hold() const;

 private:
  enum class Stage { none, waiting, held };

  void begin_span(LockSpan::Kind kind);
  void end_span(std::string_view outcome, bool failed);

  SpanQueue& spans_;
  const LockSpan subject_;
  const std::optional<TraceContext> given_parent_;
  Stage stage_ = Stage::none;
  std::optional<TraceContext> parent_;
  LockSpan span_;
  base::TimePoint since_{};
};

}  // namespace forelock::client
