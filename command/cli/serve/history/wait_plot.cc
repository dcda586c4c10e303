#include "cli/serve/history/wait_plot.h"

#include <algorithm>
#include <cstdint>

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

// The least that so many of a hundred waited at most.
milliseconds percentile(std::vector<milliseconds>& waits, std::size_t percent) {
  const std::size_t rank = (waits.size() * percent + 99) / 100 - 1;
  const auto place = waits.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(waits.begin(), place, waits.end());
  return *place;
}

}  // namespace

WaitPlot plot_waits(const std::vector<GrantedWait>& waits, const std::vector<SeenHold>& holds, WallTime from,
                    WallTime to) {
  const auto span = std::max<milliseconds>(to - from, milliseconds(0));
  constexpr milliseconds least = std::chrono::seconds(1);
  constexpr auto most_parts = static_cast<std::int64_t>(WaitPlot::most_parts);
  const milliseconds part = std::max(least, (span + milliseconds(most_parts - 1)) / most_parts);
  const std::size_t parts = static_cast<std::size_t>((span + part - milliseconds(1)) / part);
  std::vector<base::PerPriority<std::vector<milliseconds>>> sorted(std::max<std::size_t>(parts, 1));
  const auto in_span = [&](WallTime at) { return at >= from && at <= to; };
  const auto place_of = [&](WallTime at) {
    return std::min(static_cast<std::size_t>((at - from) / part), sorted.size() - 1);
  };
  for (const GrantedWait& wait : waits) {
    if (in_span(wait.to)) sorted[place_of(wait.to)][wait.priority].push_back(wait.waited);
  }
  WaitPlot plot;
  for (std::size_t i = 0; i < sorted.size(); ++i) plot.parts.push_back({from + part * static_cast<int>(i), {}});
  for (const SeenHold& hold : holds) {
    if (in_span(hold.from)) {
      WaitPlot::Part& begun = plot.parts[place_of(hold.from)];
      ++(hold.priority ? begun.grants[*hold.priority] : begun.grants_of_no_class);
    }
    if (hold.taken_away && in_span(*hold.taken_away)) ++plot.parts[place_of(*hold.taken_away)].taken_away;
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (const Priority priority : all_priorities) {
      std::vector<milliseconds>& here = sorted[i][priority];
      if (here.empty()) continue;
      const milliseconds p50 = percentile(here, 50);
      plot.parts[i].waits[priority] = WaitPlot::Waits{here.size(), p50, percentile(here, 99)};
    }
  }
  return plot;
}

}  // namespace forelock::cli
