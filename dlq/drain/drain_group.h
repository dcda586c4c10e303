// The consumer group in whose name drains commit what is done with.
#pragma once

namespace forelock::drain {

inline constexpr const char* drain_group = "forelock-drain";

}  // namespace forelock::drain
