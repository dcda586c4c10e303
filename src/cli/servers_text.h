// The place where a command looks, as text for messages.
#pragma once

#include <string>

#include "forelock/settings.h"

namespace forelock::cli {

// "zk1:2181,zk2:2181/forelock".
std::string servers_text(const Settings& settings);

}  // namespace forelock::cli
