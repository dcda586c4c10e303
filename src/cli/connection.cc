#include "cli/connection.h"

#include <algorithm>
#include <string>

namespace forelock::cli {

LogSink log_to(const Console& console) {
  return [&console](std::string_view level, std::string_view message) {
    const int needed = level == "info" ? 2 : 1;
    if (console.verbosity() >= needed) console.warn(std::string(level) + ": " + printable(message));
  };
}

std::chrono::milliseconds patience(const Settings& settings) {
  return std::max<std::chrono::milliseconds>(settings.session_timeout(), std::chrono::seconds(1));
}

}  // namespace forelock::cli
