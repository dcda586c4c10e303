// A monitor that does not exist: exit 1.
#pragma once

#include <string>

#include "forelock/settings.h"

namespace forelock::cli {

[[noreturn]] void throw_unknown_monitor(const std::string& monitor, const Settings& settings);

}  // namespace forelock::cli
