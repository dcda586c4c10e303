// Ends a session whose process has ended.
#pragma once

#include <chrono>

#include "zookeeper/session_options.h"

namespace forelock::zookeeper {

enum class SessionEnd {
  ended,     // its ephemeral nodes are gone
  was_over,  // before
  unknown    // no server has said so in time
};

// Takes the session over and closes it; then asks whether it is over. Its process must be gone: it would lose its locks
// without knowing it. Where the end does not get through, the session has at most a few seconds more than it had.
//
// Blocks up to `limit` for the servers' answers, besides what the start and the end of a ZooKeeperSession may take. The
// chroot is not made. Throws as ZooKeeperSession and its start() do.
SessionEnd end_session(SessionOptions options, const SessionIdentity& session, std::chrono::milliseconds limit);

}  // namespace forelock::zookeeper
