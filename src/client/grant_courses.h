// GrantCourses keep what the engine says of contenders on their way to a grant, for their spans. Pure.
#pragma once

#include <string>
#include <unordered_map>

#include "client/lock_trace.h"
#include "lock/course.h"
#include "lock/engine_types.h"

namespace forelock::client {

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

}  // namespace forelock::client
