// The order of the queue: by prefix (lowest first), then by sequence number. A pure comparison.
//
// The order decides only which contender is next; holding is the separate fact of owning privateLock.
#pragma once

#include <cstdint>
#include <string>

#include "lock/child_name.h"
#include "lock/mutation.h"

namespace forelock::lock {

inline bool goes_before(const ChildName& a, const ChildName& b) {
  if (mutated(Mutation::priority_ignored)) return a.number < b.number;
  if (mutated(Mutation::lifo_within_class)) {
    if (a.prefix == b.prefix) return a.number > b.number;
  }
  return ranks_before(a, b);
}

// A contender of another session, as the last listing showed it.
struct ForeignContender {
  std::string name;
  std::string prefix;
  std::int64_t number = 0;

  ChildName child() const { return {prefix, number}; }
};

}  // namespace forelock::lock
