// Nesting knows which contenders wait for a lock inside of others that their caller holds: whoever waits for an outer
// lock waits for the inner one as well.
//
// Pure; not synchronised.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "lock/engine_types.h"

namespace forelock::agent {

class Nesting {
 public:
  // `inner` waits while `outer` is held. Short waits pay for nothing: `outer` is due then.
  void add(lock::ContenderId inner, lock::ContenderId outer, lock::TimePoint due);
  // The inner one waits no longer, or the outer one is not held any more.
  void remove(lock::ContenderId contender);
  struct Pair {
    lock::ContenderId inner = 0;
    lock::ContenderId outer = 0;
    bool operator==(const Pair&) const = default;
  };
  // It is time to look who waits for the outer one. look_again() is due for each.
  std::vector<Pair> take_due(lock::TimePoint now);
  // Nothing if one of the two has been removed.
  void look_again(const Pair& pair, lock::TimePoint due);
  bool empty() const { return outer_of_.empty(); }
  lock::TimePoint next() const { return due_.empty() ? lock::never : due_.begin()->first; }

 private:
  std::unordered_map<lock::ContenderId, std::vector<lock::ContenderId>> inner_of_;
  std::unordered_map<lock::ContenderId, std::vector<lock::ContenderId>> outer_of_;
  std::multimap<lock::TimePoint, Pair> due_;
};

}  // namespace forelock::agent
