// The process that gives an operation up, as its dead letter names it.
#pragma once

#include <string>

#include "forelock/dead_letter_sink.h"

namespace forelock::client {

// This process. `instance`: the client's, `host/pid`.
DeadLetterOrigin letter_origin(const std::string& instance);

}  // namespace forelock::client
