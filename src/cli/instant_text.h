// Instants as people say them on a command line.
#pragma once

#include <optional>
#include <string_view>

#include "forelock/owner_record.h"

namespace forelock::cli {

// An ISO 8601 instant such as 2025-11-21T03:00:00Z, or an age such as 90s, 15m, 2h or 3d: so long before `now`. Nothing
// for anything else.
std::optional<WallTime> parse_instant(std::string_view text, WallTime now);

}  // namespace forelock::cli
