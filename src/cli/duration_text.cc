#include "cli/duration_text.h"

#include <CLI/CLI.hpp>

#include "config/quantity.h"

namespace forelock::cli {

std::string duration_text(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  const auto pair = [](std::int64_t major, const char* major_unit, std::int64_t minor, const char* minor_unit) {
    return std::to_string(major) + ' ' + major_unit + ' ' + std::to_string(minor) + ' ' + minor_unit;
  };
  if (ms < 1000) return std::to_string(ms) + " ms";
  if (ms < 60'000) return std::to_string(ms / 1000) + '.' + std::to_string(ms % 1000 / 100) + " s";
  if (ms < 3'600'000) return pair(ms / 60'000, "min", ms / 1000 % 60, "s");
  if (ms < 86'400'000) return pair(ms / 3'600'000, "h", ms / 60'000 % 60, "min");
  return pair(ms / 86'400'000, "d", ms / 3'600'000 % 24, "h");
}

CLI::Option* add_duration(CLI::App& app, const std::string& names, std::optional<std::chrono::milliseconds>& target,
                          const std::string& help) {
  const auto parse = [&target](const std::string& text) {
    target = config::parse_duration(text);
    if (!target)
      throw CLI::ValidationError("'" + text + "' is no duration: a number of milliseconds, or 250ms, 2s, 5m");
  };
  return app.add_option_function<std::string>(names, parse, help)->type_name("MS");
}

}  // namespace forelock::cli
