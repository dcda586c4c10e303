#include "client/dead_sessions.h"

#include <chrono>
#include <exception>

namespace forelock::client {

using zookeeper::SessionEnd;

std::vector<DeadSession> end_dead_sessions(session_file::SessionFile& file, const std::string& ensemble,
                                           const zookeeper::SessionOptions& options) {
  constexpr std::chrono::milliseconds limit{1000};
  std::vector<DeadSession> results;
  bool reachable = true;
  for (const session_file::RecordedSession& session : file.claim(ensemble)) {
    DeadSession& result = results.emplace_back(DeadSession{session.id, SessionEnd::unknown, {}});
    if (!reachable) continue;
    try {
      result.end = zookeeper::end_session(options, {session.id, session.password}, limit);
    } catch (const std::exception& problem) {
      result.problem = problem.what();
    }
    reachable = result.end != SessionEnd::unknown;
    if (reachable) file.forget(session.id);  // if that fails, the next process asks for nothing
  }
  return results;
}

}  // namespace forelock::client
