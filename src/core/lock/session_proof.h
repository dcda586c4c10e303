// The instant until which a session is certain to live on the servers, derived from answered requests.
//
// Two questions, each of which needs its own answers:
//
// Has the leader heard of us? The leader ends a session one time-out after it last heard of it. Of a client that is
// connected to a follower it hears: that the session was opened; that the client has reconnected; and the follower's
// list of sessions with recent messages, which the leader requests every half tick. A request that the follower
// forwards does not count as a sign of life. But between a follower and its leader everything keeps its order. So three
// requests over one connection prove it together:
//   1. any request, answered at `a`: the session is on the follower's next list;
//   2. one that goes through the leader (a write or a sync), sent at least half a tick after `a`, question_interval():
//      its answer comes behind a question that the leader sent after `a`, so that by then the follower has sent the
//      list;
//   3. another one through the leader, sent after that answer: it arrives behind the list.
// This depends on no network delay, only on the leader's own interval.
//
// Is it still the leader? A leader that has lost its followers does not know it for up to syncLimit ticks. Until then
// it continues to answer reads, `sync` and reconnecting clients, while its successor counts every session anew and ends
// this session one time-out after its election. Only a write proves a quorum: a server that has confirmed it cannot
// have taken part in the election of a successor before. So a write that was answered (refusals by the leader are
// transactions as well) proves that a later leader was elected after the write was sent, and counts from a later
// instant than that.
//
// Hence: a request that the leader has heard of (1 to 3) counts when a write that was sent as the third, or later, over
// the same connection has been answered: the session lives for a whole time-out from the *send* time of the first. A
// reconnect is heard of by the leader at once, but proves nothing until a write has been answered after it.
//
// (Server 3.8: Learner.ping, LearnerHandler, Leader.processSync, LeaderZooKeeperServer, SessionTrackerImpl. Not
// covered: observers behind another server's observerMasterPort, which pass on their lists in two steps.)
//
// Pure: no clock, no threads; not synchronised.
#pragma once

#include <deque>

#include "lock/engine_types.h"

namespace forelock::lock {

// The farthest server that an answered request has reached.
enum class Reach {
  server,  // answered by the server that the client is connected to: reads
  leader,  // answered by the server that it believes to be the leader: sync
  quorum   // confirmed by a quorum: writes
};

class SessionProof {
 public:
  // A new session, which is a confirmed write. It was asked for at this instant or later: the leader counts from a
  // later one.
  void opened(TimePoint asked_at, Duration timeout);
  // A server has accepted the same session again: the leader has heard of it after everything that was answered over
  // the connections before.
  void resumed(Duration timeout);
  // The session has ended.
  void ended();

  // The server has answered a request. Requests are answered in the order in which they were sent.
  void answered(TimePoint sent, Reach reach, TimePoint now);

  // The session lives on the servers until this instant, at least; the clock's epoch if nothing is known.
  TimePoint valid_until() const;
  // From this instant on a write brings a proof nearer, or completes it; `never` if nothing was answered.
  TimePoint worth_asking() const;

 private:
  struct Answered {
    TimePoint sent;
    TimePoint at;
  };

  // A leader asks every half tick, which is a quarter of the time-out at most unless the servers' minSessionTimeout was
  // lowered; and some more, since it does not ask on the instant.
  Duration question_interval() const { return timeout_ * 5 / 16; }

  Duration timeout_{0};
  TimePoint alive_at_{};
  // What the leader, if it still is one, has heard of; a write proves it.
  TimePoint heard_of_{};
  // Over this connection, oldest first, none as old as a time-out. First, some distance apart, those that were
  // answered;
  TimePoint last_kept_{};
  std::deque<Answered> answered_;
  // then those that the follower has listed; `at` is the answer that shows it.
  std::deque<Answered> listed_;
};

}  // namespace forelock::lock
