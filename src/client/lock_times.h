// LockTimes measure waits of acquisitions, and holds of their locks, by class. Pure; not synchronised.
#pragma once

#include <unordered_map>

#include "base/per_priority.h"
#include "forelock/client.h"
#include "lock/engine_types.h"

namespace forelock::client {

// Receives the events of each contender. Events of an unknown one are ignored.
class LockTimes {
 public:
  void begins(lock::ContenderId contender, Priority priority, lock::TimePoint now);
  void granted(lock::ContenderId contender, lock::TimePoint now);
  // Held at once, without a wait.
  void taken_again(lock::ContenderId contender, Priority priority, lock::TimePoint now);
  // Of the class that it will be granted in.
  void moved(lock::ContenderId contender, Priority priority);
  // Held, and it queues again.
  void stepped_aside(lock::ContenderId contender, lock::TimePoint now);
  // Its caller holds it no more, or waits no more.
  void ended(lock::ContenderId contender, lock::TimePoint now);

  void fill(ClientStatistics& statistics) const;
  // Contenders that are known.
  std::size_t size() const { return contenders_.size(); }

 private:
  struct Contender {
    Priority priority = Priority::foreground;
    bool held = false;
    lock::TimePoint since{};
  };

  base::PerPriority<ClassTimes> times_;
  std::unordered_map<lock::ContenderId, Contender> contenders_;
};

}  // namespace forelock::client
