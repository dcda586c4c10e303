// The client of one command.
#pragma once

#include <chrono>

#include "cli/command.h"
#include "forelock/client.h"

namespace forelock::cli {

// A client whose log goes to stderr: nothing without -v, problems with it, everything with -vv.
LogSink log_to(const Console& console);

// How long a command that only looks waits for a server: the session's time-out, but at least a second.
std::chrono::milliseconds patience(const Settings& settings);

}  // namespace forelock::cli
