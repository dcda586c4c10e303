/// \file
/// The priorities with which work contends for a monitor.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace forelock {

/// Foreground work (a person waits for it) always goes before background work (bulk) on the same monitor.
enum class Priority { foreground, background };

/// All priorities, the most urgent first.
inline constexpr std::array all_priorities{Priority::foreground, Priority::background};

/// "foreground" or "background", as records, letters, options and messages write it.
constexpr std::string_view name_of(Priority priority) noexcept {
  switch (priority) {
    case Priority::foreground:
      return "foreground";
    case Priority::background:
      return "background";
  }
  return "?";
}

/// The priority with this name; nothing if there is none.
constexpr std::optional<Priority> parse_priority(std::string_view name) noexcept {
  for (const Priority priority : all_priorities) {
    if (name == name_of(priority)) return priority;
  }
  return std::nullopt;
}

}  // namespace forelock
