// A monitor that does not exist: exit 1.
#pragma once

#include <string>

namespace forelock::cli {

[[noreturn]] void throw_unknown_monitor(const std::string& monitor);

}  // namespace forelock::cli
