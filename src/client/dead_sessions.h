// Ends the sessions that a killed process has left in its session file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session_file/session_file.h"
#include "zookeeper/session_end.h"
#include "zookeeper/session_options.h"

namespace forelock::client {

struct DeadSession {
  std::int64_t id = 0;
  zookeeper::SessionEnd end = zookeeper::SessionEnd::unknown;
  std::string problem;  // why it is unknown, if there is more to say than that no server has answered
};

// Those of this ensemble (session_setup.h) that no other client of the process has begun to end: one after the other,
// each in a second at most, until one of them cannot be ended. What has ended is forgotten in the file.
std::vector<DeadSession> end_dead_sessions(session_file::SessionFile& file, const std::string& ensemble,
                                           const zookeeper::SessionOptions& options);

}  // namespace forelock::client
