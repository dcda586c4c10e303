#include "cli/monitors/monitor_choice.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include "cli/monitors/views_text.h"

namespace forelock::cli {

void MonitorChoice::add_to(CLI::App& app) {
  app.add_option("--sort", sort, "Order: name, wait (the longest first) or held (the longest first) [name]")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"name", "wait", "held"}));
  app.add_flag("--waiting", waiting, "Only monitors that are waited for");
  app.add_flag("--overdue", overdue, "Only monitors whose holder takes longer than it has said");
  app.add_option("--limit", limit, "At most N monitors (0 = all)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
}

std::size_t MonitorChoice::apply(std::vector<MonitorSummary>& monitors, std::size_t room) const {
  std::erase_if(monitors, [this](const MonitorSummary& monitor) {
    return (waiting && !monitor.oldest_wait) || (overdue && !is_overdue(monitor.holder));
  });
  const auto time_of = [this](const MonitorSummary& monitor) {
    constexpr std::chrono::milliseconds none{-1};
    if (sort == "wait") return monitor.oldest_wait.value_or(none);
    return monitor.holder ? monitor.holder->held : none;
  };
  if (sort != "name") {
    std::stable_sort(monitors.begin(), monitors.end(),
                     [&time_of](const auto& one, const auto& other) { return time_of(one) > time_of(other); });
  }
  const std::size_t shown = std::min({monitors.size(), room, limit == 0 ? SIZE_MAX : static_cast<std::size_t>(limit)});
  const std::size_t more = monitors.size() - shown;
  monitors.resize(shown);
  return more;
}

}  // namespace forelock::cli
