
#include "robustness/check/describe.h"
#include "robustness/check/forced_ends.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

// When an access was over: as the resource saw it, or, if nobody said so, when its client was last heard of.
Instant end_of(const History& history, const Access& access) {
  if (access.how != Access::End::open) return access.end;
  return std::max(access.begin, history.processes[access.client].last);
}

// So long it takes a command to be ended by its guardian.
constexpr Span ending_a_command = std::chrono::seconds(2);

// Whether the holder of an access that a higher token has ended could not have left by then: it had been stopped, or
// robbed of its lock.
bool excused(const History& history, const Access& access, const ForcedEnds& forced) {
  const Process& process = history.processes[access.client];
  const Span leaving = waking + (process.kind == Kind::cli ? ending_a_command : Span{0});
  const Interval blind = forced.blind(process, access.monitor, access.token, access.end);
  Instant by = blind.begin == never ? access.begin : blind.end + leaving;
  for (const Interval& still : process.still) {
    if (still.end != never && still.end + leaving <= access.begin) continue;
    if (still.begin >= access.end) break;
    by = std::max(by, still.end == never ? never : still.end + leaving);
  }
  return access.end <= by;
}

}  // namespace

Findings exclusive_accesses(const History& history) {
  Findings findings;
  const ForcedEnds forced(history);
  std::vector<std::vector<const Access*>> inside(history.monitors.size());
  std::vector<const Access*> highest(history.monitors.size());
  for (const Access& access : history.accesses) {  // in the order of their begins
    if (!access.accepted) continue;
    ++findings.judged;
    if (access.how == Access::End::fenced && access.token == 0) {
      ++findings.undecided;
    } else if (access.how == Access::End::fenced && !excused(history, access, forced)) {
      findings.violated(text_of(history, access) + " was ended by a higher token, and nothing excuses its holder");
    }
    auto& others = inside[access.monitor];
    std::erase_if(others, [&](const Access* other) { return end_of(history, *other) <= access.begin; });
    for (const Access* other : others) {
      if (other->token == 0 || access.token == 0) {
        ++findings.undecided;
        continue;
      }
      findings.violated(text_of(history, *other) + " and " + text_of(history, access) + " overlap");
    }
    others.push_back(&access);
    const Access*& top = highest[access.monitor];
    const bool old = top != nullptr && access.token < top->token;
    const bool another_ones = top != nullptr && access.token == top->token && access.client != top->client;
    if (access.token != 0 && (old || another_ones)) {
      findings.violated(text_of(history, access) + " was accepted after " + text_of(history, *top));
    }
    if (top == nullptr || access.token > top->token) top = &access;
  }
  return findings;
}

}  // namespace forelock::robustness
