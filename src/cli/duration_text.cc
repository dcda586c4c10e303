#include "cli/duration_text.h"

#include <CLI/CLI.hpp>

#include "config/quantity.h"

namespace forelock::cli {

namespace {

// Command lines are parsed once in a process, before any thread.
std::vector<std::string> doubts;

// Other programs take seconds.
void doubt_small_number(const std::string& option, const std::string& text) {
  constexpr std::int64_t rather_seconds = 100;
  const std::optional<std::int64_t> number = config::parse_number(text);
  if (!number || *number == 0 || *number >= rather_seconds) return;
  doubts.push_back(option + ' ' + text + " is " + text + " ms; for seconds write " + text + 's');
}

}  // namespace

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

std::string latency_text(std::chrono::microseconds latency) {
  constexpr std::chrono::microseconds few{10'000};
  if (latency < few) return std::to_string(latency.count()) + " µs";
  return duration_text(std::chrono::round<std::chrono::milliseconds>(latency));
}

CLI::Option* add_duration(CLI::App& app, const std::string& names, std::optional<std::chrono::milliseconds>& target,
                          const std::string& help) {
  const auto parse = [&target, option = names.substr(0, names.find(','))](const std::string& text) {
    target = config::parse_duration(text);
    if (!target) {
      throw CLI::ValidationError("'" + text +
                                 "' is no duration: a number of milliseconds, or 250ms, 2s, 1.5s, 5m, 1h, 3d");
    }
    doubt_small_number(option, text);
  };
  return app.add_option_function<std::string>(names, parse, help)->type_name("MS");
}

const std::vector<std::string>& duration_doubts() {
  return doubts;
}

}  // namespace forelock::cli
