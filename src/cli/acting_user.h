// The person behind this process, for audit lines.
#pragma once

#include <string>

namespace forelock::cli {

// The user who logged in, where the kernel's audit or sudo knows it, also when this process runs as another: "anna (as
// root)". Otherwise the user of this process. $SUDO_USER can be set by the user: it names, it does not prove.
std::string acting_user();

}  // namespace forelock::cli
