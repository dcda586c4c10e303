// Until when a session is certain to live on the servers.
//
// Only the leader ends sessions, a time-out after it has heard of them the last time. What it hears of a client that is
// connected to a follower is this: that the session was opened; that the client has connected again; and every half
// tick, the follower's list of those it has had a message from. A request that the follower passes on tells the leader
// nothing about its session's time-out, but it comes after every list that was sent before it. So two requests prove
// together what neither of them does alone: the follower had the first one when it answered it; the second one, passed
// on half a tick later or more, found the leader informed, and the session alive. From the *send* time of the first one
// on the session lives for a whole time-out.
//
// (Server 3.8: Learner.ping, LearnerHandler, LeaderZooKeeperServer.submitLearnerRequest, SessionTrackerImpl.)
//
// Pure: no clock, no threads; not synchronised.
#pragma once

#include <deque>

#include "lock/engine_types.h"

namespace forelock::lock {

class SessionProof {
 public:
  // A new session. It was asked for at this instant or later: the leader counts from a later one.
  void opened(TimePoint asked_at, Duration timeout);
  // A server has accepted the same session again: the leader has heard of it after everything that was answered before.
  void resumed(Duration timeout);
  // It has ended, or is none yet.
  void ended();

  // The server has answered a request. Requests are answered in the order in which they were sent. `through_leader`: it
  // was a write or a sync. A follower answers reads by itself, also for a while after it has lost the leader.
  void answered(TimePoint sent, bool through_leader, TimePoint now);

  // The session lives on the servers until this instant, at least; the clock's epoch if nothing is known.
  TimePoint valid_until() const;
  // From this instant on a request through the leader proves more than is known; `never` if nothing was answered.
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
  // Over this connection, oldest first, not yet proved; some distance apart, and none that is as old as a time-out.
  std::deque<Answered> answered_;
};

}  // namespace forelock::lock
