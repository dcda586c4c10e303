#include <algorithm>
#include <vector>

#include "robustness/check/describe.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {

namespace {

// When an access was over: as the resource saw it, or, if nobody said so, when its client was last heard of.
Instant end_of(const History& history, const Access& access) {
  if (access.how != Access::End::open) return access.end;
  return std::max(access.begin, history.processes[access.client].last);
}

}  // namespace

Findings exclusive_accesses(const History& history) {
  Findings findings;
  std::vector<std::vector<const Access*>> inside(history.monitors.size());
  std::vector<const Access*> highest(history.monitors.size());
  for (const Access& access : history.accesses) {  // in the order of their begins
    if (!access.accepted) continue;
    ++findings.judged;
    auto& others = inside[access.monitor];
    std::erase_if(others, [&](const Access* other) { return end_of(history, *other) <= access.begin; });
    for (const Access* other : others) {
      if (other->token == 0 || access.token == 0) {
        ++findings.undecided;
        continue;
      }
      if (other->token == access.token && other->client == access.client) continue;
      findings.violated(text_of(history, *other) + " and " + text_of(history, access) + " overlap");
    }
    others.push_back(&access);
    const Access*& top = highest[access.monitor];
    if (top != nullptr && access.token != 0 && access.token < top->token) {
      findings.violated(text_of(history, access) + " was accepted after " + text_of(history, *top));
    }
    if (top == nullptr || access.token > top->token) top = &access;
  }
  return findings;
}

}  // namespace forelock::robustness
