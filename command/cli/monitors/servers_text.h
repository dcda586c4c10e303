// The servers that a command reads, as text, and the error for a monitor that they do not have.
#pragma once

#include <string>

#include "forelock/settings.h"

namespace forelock::cli {

[[noreturn]] void throw_unknown_monitor(const std::string& monitor, const Settings& settings);

// "zk1:2181,zk2:2181/forelock".
std::string servers_text(const Settings& settings);

}  // namespace forelock::cli
