// An operation's payload, from a file or our own stdin.
#pragma once

#include <string>

#include "cli/process/signal_source.h"

namespace forelock::cli {

// Reads all of it; "-" is stdin. A signal ends the reading, however silent the writer is. \throws FailureException
// (usage) if it cannot be read or is larger than an operation may carry; EndedBySignal.
std::string read_payload(const std::string& file, SignalSource& signals);

}  // namespace forelock::cli
