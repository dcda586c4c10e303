
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

constexpr Span long_enough = std::chrono::minutes(10);
// Caches fill, allocators find their size.
constexpr Span warm_up = std::chrono::minutes(2);

struct Tolerance {
  double factor;
  std::int64_t more;
};

// What swings with the faults of the moment, without growing.
const std::map<std::string, Tolerance>& tolerances() {
  static const std::map<std::string, Tolerance> all = {{"memory_kib", {1.15, 4096}},
                                                       {"descriptors", {1.0, 10}},
                                                       {"threads", {1.0, 4}},
                                                       {"watches", {1.25, 50}},
                                                       {"nodes", {1.25, 50}}};
  return all;
}

// What a process that dead-letters may keep more, beside the usual, since the broker may have been away only later: up
// to 4,096 letters or 32 MiB are under way to it at a time (SendPlan), and the allocator keeps the room for them.
constexpr std::int64_t letters_under_way_kib = 32 * 1024;

std::set<std::string> those_that_dead_letter(const History& history) {
  std::set<std::string> names;
  for (const auto& [id, letter] : history.letters) {
    if (letter.handed) names.insert(history.processes[letter.process].name);
  }
  return names;
}

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::int64_t> between(const std::vector<Sample>& samples, const std::string& what, Instant from,
                                  Instant to) {
  std::vector<std::int64_t> values;
  for (const Sample& sample : samples) {
    const auto count = sample.counts.find(what);
    if (count != sample.counts.end() && from <= sample.at && sample.at <= to) values.push_back(count->second);
  }
  return values;
}

}  // namespace

FlatFindings flat_use(const History& history) {
  FlatFindings result;
  const auto dead_lettering = those_that_dead_letter(history);
  for (const auto& [who, samples] : history.samples) {
    const Instant end = samples.back().at;
    if (end - samples.front().at < long_enough) continue;
    const Instant begin = samples.front().at + warm_up;
    const Span quarter = (end - begin) / 4;
    for (const auto& [what, tolerance] : tolerances()) {
      const auto early = between(samples, what, begin, begin + quarter);
      const auto late = between(samples, what, end - quarter, end);
      if (early.empty() || late.empty()) continue;
      ++result.findings.judged;
      const std::int64_t first = median(early);
      const std::int64_t last = median(late);
      result.uses.push_back({who, what, first, last});
      const bool letters = what == "memory_kib" && dead_lettering.contains(who);
      const auto allowed = static_cast<std::int64_t>(std::ceil(static_cast<double>(first) * tolerance.factor)) +
                           tolerance.more + (letters ? letters_under_way_kib : 0);
      if (last <= allowed) continue;
      result.findings.violated(what + " of " + who + " grew from " + std::to_string(first) + " to " +
                               std::to_string(last) + "; allowed are " + std::to_string(allowed));
    }
  }
  return result;
}

}  // namespace forelock::robustness
