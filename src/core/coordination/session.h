// The narrow interface between the lock protocol's drivers and a coordination server: one session.
//
// Two implementations: zookeeper/ (the C client) and the in-memory model of tests/simulation. One suite of contract
// tests (tests/contract) runs against both.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "coordination/reply.h"
#include "coordination/request.h"

namespace forelock::coordination {

using SessionId = std::int64_t;
// Chosen by the submitter; returned with the reply.
using RequestTag = std::uint64_t;

struct WatchEvent {
  enum class Kind { created, deleted, data_changed, children_changed };
  Kind kind = Kind::created;
  std::string path;
};

struct SessionEvent {
  enum class Kind {
    connected,     // a server has accepted the session (first time or again)
    disconnected,  // no server: replies outstanding at this moment have been answered with connection_loss
    expired,       // final: the server has ended the session; everything outstanding was answered session_expired
    auth_failed    // final: the credentials were refused
  };
  Kind kind = Kind::disconnected;
  SessionId session = 0;                 // connected: its id
  std::chrono::milliseconds timeout{0};  // connected: the negotiated time-out
  // connected: an instant before the session was asked for, so that the servers count its time-out from a later one
  std::chrono::steady_clock::time_point asked_at{};
  std::string problem = {};  // auth_failed: the problem, its place and the next step, if known
};

// Called by the session, one call at a time, in the server's order: a watch event comes before the reply of any request
// that could see the change; replies come in the order of their requests. Must not block and may submit further
// requests from inside a call.
class SessionListener {
 public:
  virtual void on_reply(RequestTag tag, Reply reply) = 0;
  virtual void on_watch(const WatchEvent& event) = 0;
  virtual void on_session(const SessionEvent& event) = 0;

 protected:
  ~SessionListener() = default;
};

class Session {
 public:
  virtual ~Session() = default;

  // Sends the request; requests of one session are applied in the order of submission. Every submitted request is
  // answered exactly once: by the server, with connection_loss (at once when there is no connection), with
  // session_expired, or, when the session is closed, with connection_loss before close returns.
  virtual void submit(RequestTag tag, Request request) = 0;
};

}  // namespace forelock::coordination
