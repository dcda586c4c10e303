// A CourseLog writes the course of each contender to the client's log, at level debug: in one line for each step, which
// begins with the monitor and the contender's number.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "client/client_log.h"
#include "lock/engine_types.h"

namespace forelock::client {

// What happened, for people: "granted; token 4294967301". Of an acquisition's specification only monitor, class and
// time are told, never its records.
std::string course_text(const lock::CourseNote& note);
std::string grant_text(const lock::Grant& grant);
std::string refusal_text(const lock::Refusal& refusal);
std::string release_text(lock::ReleaseOutcome outcome);
std::string_view loss_text(LossReason reason);
std::string contention_text(Priority waiting);

// Not synchronised: for the core's mutex. It exists only where debug lines are wanted.
class CourseLog {
 public:
  explicit CourseLog(ClientLog& log) : log_(log) {}

  // Names the contender's lines from now on, until it is forgotten.
  void begins(lock::ContenderId contender, const lock::AcquireSpec& spec, lock::TimePoint now);
  void note(lock::ContenderId contender, std::string_view text);
  // Nothing of it is left.
  void forgotten(lock::ContenderId contender);

 private:
  ClientLog& log_;
  std::unordered_map<lock::ContenderId, std::string> monitors_;
};

}  // namespace forelock::client
