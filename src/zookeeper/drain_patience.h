// The time for which a closing session waits for the next answer to its requests, before it sends its end.
#pragma once

#include <atomic>
#include <chrono>

namespace forelock::zookeeper {

// Of all sessions of this process. Less, for a process that is about to leave: the end must be on its way by then. The
// more requests a server that stands still has not read by then, the more likely it misses the end (session_core.cc).
inline std::atomic<std::chrono::milliseconds> drain_patience{std::chrono::milliseconds(1000)};

}  // namespace forelock::zookeeper
