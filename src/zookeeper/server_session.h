// A session with one server alone, for diagnosis: sends a request, and waits for the answer.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "coordination/reply.h"
#include "coordination/request.h"
#include "zookeeper/session_options.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::zookeeper {

// Not thread-safe.
class ServerSession {
 public:
  // Begins to connect. Throws as ZooKeeperSession and its start() do.
  explicit ServerSession(SessionOptions options);
  // Ends the session; its ephemeral nodes go with it.
  ~ServerSession();
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  // Whether the server has accepted the session, and the credentials, within this time.
  bool wait_connected(std::chrono::milliseconds timeout);
  // Why it has none, as far as that is known.
  std::optional<SessionProblem> last_problem() const;
  // connection_loss when there is no answer in this time.
  coordination::Reply ask(coordination::Request request, std::chrono::milliseconds timeout);

 private:
  class Listener;

  const std::unique_ptr<Listener> listener_;
};

}  // namespace forelock::zookeeper
