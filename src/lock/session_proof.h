// The instant until which a session is certain to live on the servers, derived from answered requests.
//
// Two questions, and each needs an answer of its own:
//
// Has the leader heard of us? The leader ends a session one time-out after it has heard of it the last time. Of a
// client that is connected to a follower it hears this: that the session was opened; that the client has connected
// again; and, every half tick, the follower's list of the sessions it has had a message from. A request that the
// follower passes on does not count as a sign of life, but it arrives behind every list that was sent before it. So if
// one request was answered, and another one was sent half a tick later or more and was answered by the leader, the
// leader had heard of the first.
//
// Is it still the leader? A leader that has lost its followers does not know it for up to syncLimit ticks. Until then
// it goes on answering reads, `sync` and clients that connect again, while its successor counts every session anew and
// ends ours one time-out after its election. Only a write proves a quorum: a server that has confirmed it cannot have
// taken part in the election of a successor before. So a write that was answered, refusals included (they are
// transactions as well), proves that a later leader was elected after the write was sent, and counts from a later
// instant than that.
//
// Hence: a request that was answered, and a write that was sent half a tick after that answer and was answered over the
// same connection, prove together that the session lives for a whole time-out from the *send* time of the first one. A
// reconnect proves nothing until a write has been answered after it.
//
// (Server 3.8: Learner.ping, LearnerHandler, Leader.processSync, LeaderZooKeeperServer, SessionTrackerImpl.)
//
// Pure: no clock, no threads; not synchronised.
#pragma once

#include <deque>

#include "lock/engine_types.h"

namespace forelock::lock {

class SessionProof {
 public:
  // A new session, which is a confirmed write. It was asked for at this instant or later: the leader counts from a
  // later one.
  void opened(TimePoint asked_at, Duration timeout);
  // A server has accepted the same session again. Once a write over this connection has been answered, it is proved
  // that the leader heard of the session after everything that was answered over the connections before.
  void resumed(Duration timeout);
  // The session has ended.
  void ended();

  // The server has answered a request. Requests are answered in the order in which they were sent. `write`: the request
  // was a transaction; a sync is none.
  void answered(TimePoint sent, bool write, TimePoint now);

  // The session lives on the servers until this instant, at least; the clock's epoch if nothing is known.
  TimePoint valid_until() const;
  // From this instant on a write proves more than is known; `never` if nothing was answered.
  TimePoint worth_asking() const;

 private:
  struct Answered {
    TimePoint sent;
    TimePoint at;
  };

  // How long a follower may keep to itself what it has heard: half a tick, which is a quarter of the time-out at most
  // unless the servers' minSessionTimeout was lowered, and some more, since a leader does not ask on the instant.
  Duration report_delay() const { return timeout_ * 5 / 16; }

  Duration timeout_{0};
  TimePoint alive_at_{};
  // What the next answered write proves, after a reconnect.
  TimePoint resumed_from_{};
  // Over this connection, oldest first, not yet proved; some distance apart, and none that is as old as a time-out.
  std::deque<Answered> answered_;
};

}  // namespace forelock::lock
