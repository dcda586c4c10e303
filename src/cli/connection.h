// The client of one command.
#pragma once

#include <chrono>

#include "cli/command.h"
#include "forelock/client.h"

namespace forelock::cli {

// A client whose log goes to stderr: nothing without -v, problems with it, everything with -vv.
LogSink log_to(const Console& console);

// For commands about dead letters: errors without -v too, as they may be about operations that are not where they
// should be (a damaged outbox, say); each only once in a row. With -o json, stderr is for the one JSON object: as
// log_to.
LogSink dead_letter_log(const Console& console);

// How long a command that only looks waits for a server: the session's time-out, but at least a second.
std::chrono::milliseconds patience(const Settings& settings);

}  // namespace forelock::cli
