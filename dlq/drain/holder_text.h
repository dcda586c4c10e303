// The holder of a lock as text, for messages.
#pragma once

#include <string>

#include "forelock/client.h"

namespace forelock::drain {

// Such as `held by host/17/main for "Reindex" since 12 s`, or that it is not held any more. Asks the server, for at
// most a second; never throws.
std::string holder_text(Client& client, const std::string& monitor);

}  // namespace forelock::drain
