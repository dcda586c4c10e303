// An operation's payload, from a file or our own stdin.
#pragma once

#include <string>

namespace forelock::cli {

// Reads all of it; "-" is stdin. \throws FailureException (usage) if it cannot be read or is larger than an operation
// may carry.
std::string read_payload(const std::string& file);

}  // namespace forelock::cli
