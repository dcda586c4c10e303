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
  // Those that wait inside of this one.
  std::vector<lock::ContenderId> inside(lock::ContenderId outer) const;
  // Outer ones of which it has to be known who waits for them, each once for each inner one.
  std::vector<lock::ContenderId> take_due(lock::TimePoint now);
  bool empty() const { return outer_of_.empty(); }
  lock::TimePoint next() const { return due_.empty() ? lock::never : due_.begin()->first; }

 private:
  struct Pair {
    lock::ContenderId inner = 0;
    lock::ContenderId outer = 0;
    bool operator==(const Pair&) const = default;
  };

  std::unordered_map<lock::ContenderId, std::vector<lock::ContenderId>> inner_of_;
  std::unordered_map<lock::ContenderId, std::vector<lock::ContenderId>> outer_of_;
  std::multimap<lock::TimePoint, Pair> due_;
};

}  // namespace forelock::agent
