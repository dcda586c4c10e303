// A Nesting tracks contenders that wait for a lock inside others that their caller holds: contenders of an outer lock
// wait for the inner one as well.
//
// Pure; not synchronised.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lock/engine_types.h"

namespace forelock::agent {

class Nesting {
 public:
  struct Outer {
    lock::ContenderId contender = 0;
    std::uint64_t section = 0;  // of its callers: a lock that lingers stays the same contender
    bool operator==(const Outer&) const = default;
  };
  // Adds `inner`, which waits inside these. It is first checked when it is due, so that short waits cost nothing.
  void add(lock::ContenderId inner, std::vector<Outer> outer_ones, lock::TimePoint due);
  // It waits no longer.
  void remove(lock::ContenderId inner);
  // Those whose outer locks are to be looked at now; each is due again at `next`.
  std::vector<lock::ContenderId> take_due(lock::TimePoint now, lock::TimePoint next);
  // Nothing if it does not wait.
  std::vector<Outer> outer_ones(lock::ContenderId inner) const;
  bool empty() const { return waits_.empty(); }
  lock::TimePoint next() const { return due_.empty() ? lock::never : due_.begin()->first; }

 private:
  struct Wait {
    std::vector<Outer> outer_ones;
    lock::TimePoint due;
  };
  std::unordered_map<lock::ContenderId, Wait> waits_;
  std::set<std::pair<lock::TimePoint, lock::ContenderId>> due_;
};

}  // namespace forelock::agent
