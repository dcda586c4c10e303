// A DangerWatch tracks which held locks want a warning some time before the session's deadline, and which have had it.
#pragma once

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lock/engine_types.h"

namespace forelock::agent {

// All locks share the session's deadline, so they are ordered by their margins, and checked only when their turn comes:
// the cost does not grow with unaffected locks. Not thread-safe.
class DangerWatch {
 public:
  // A lock that is held from now on. The margin is more than zero.
  void add(lock::ContenderId contender, lock::Duration margin);
  void remove(lock::ContenderId contender);
  bool empty() const { return margins_.empty(); }

  // Those with less than their margin left before the deadline: each once, until the deadline has moved on so far that
  // it has more again.
  std::vector<lock::ContenderId> due(lock::TimePoint time, lock::TimePoint valid_until);
  // The time at which due() will return a lock if the deadline stays; `never` if it will not.
  lock::TimePoint next(lock::TimePoint time, lock::TimePoint valid_until);

 private:
  using ByMargin = std::set<std::pair<lock::Duration, lock::ContenderId>>;

  void recover(lock::TimePoint time, lock::TimePoint valid_until);

  std::unordered_map<lock::ContenderId, lock::Duration> margins_;
  ByMargin calm_;
  ByMargin told_;
};

}  // namespace forelock::agent
