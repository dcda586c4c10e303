// What keeps a session from being connected although servers answer.
#include <mutex>
#include <string>
#include <utility>

#include "zookeeper/session_core.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::zookeeper {

using coordination::ReplyCode;

// On the I/O thread.
void SessionCore::tls_met(const std::string& server, const std::string& problem) {
  const std::lock_guard lock(queue_mutex_);
  if (problem.empty()) {
    tls_problems_.erase(server);
  } else {
    tls_problems_[server] = problem;
  }
}

#ifdef FORELOCK_TLS
// On the I/O thread. A session that no server has accepted yet is over once it has been refused more often than there
// are servers: a server of ZooKeeper 3.8 confuses users that authenticate at the same moment. And once they have ended
// the connection without a word a little more often: they might have been about to end themselves. Of a session that
// has been accepted its owner decides: it may hold locks, and one server may have been changed before the others.
bool SessionCore::sasl_met(const std::string& server, SaslLogin::End end, const std::string& problem) {
  constexpr std::size_t silent_ends = 2;
  std::size_t servers = 0;
  {
    const std::lock_guard order(submit_mutex_);
    servers = address_count();
  }
  const std::lock_guard lock(queue_mutex_);
  if (end == SaslLogin::End::accepted) {
    sasl_ = {};
    return false;
  }
  sasl_.problems[server] = problem;
  if (end == SaslLogin::End::refused) ++sasl_.refusals;
  if (end == SaslLogin::End::cut_short) ++sasl_.cuts;
  sasl_.refused = sasl_.refusals > servers || sasl_.refusals + sasl_.cuts > servers + silent_ends;
  return sasl_.refused && !identity_;
}
#endif

std::optional<SessionProblem> SessionCore::last_problem() const {
  std::lock_guard lock(queue_mutex_);
  if (problem_ || (tls_problems_.empty() && sasl_.problems.empty())) return problem_;
  std::string all;
  for (const auto& problems : {tls_problems_, sasl_.problems}) {
    for (const auto& [server, problem] : problems) all += (all.empty() ? "" : "; ") + problem;
  }
  return SessionProblem{sasl_.refused ? ReplyCode::auth_failed : ReplyCode::connection_loss, std::move(all)};
}

}  // namespace forelock::zookeeper
