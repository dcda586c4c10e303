// The lock protocol of one process: every contender of every monitor over one session.
//
// Pure: no I/O, no threads, no clock, no randomness. Events go in with the time at which they are handled; decisions
// come out through EngineOutput. The real driver (client/) and the simulator run this same code.
//
// Not thread-safe: the driver serialises. `now` must not go backwards between calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordination/session.h"
#include "lock/contender_state.h"
#include "lock/engine_types.h"

namespace forelock::lock {

class EngineCore;

class Engine {
 public:
  Engine(EngineOptions options, EngineOutput& output);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // --- what callers want ---

  // Contends for a monitor. Ends in granted() or refused(), by the deadline at the latest (given ticks).
  void acquire(ContenderId contender, AcquireSpec spec, TimePoint now);
  // Gives a held lock up. Ends in released(); continues by itself over reconnects until it is certain. A contender that
  // is not held (any more) is left alone: the result says whether a release was begun.
  bool release(ContenderId contender, TimePoint now);
  // Withdraws a waiting contender: refused(cancelled) at once. False if it is not waiting.
  bool cancel(ContenderId contender, TimePoint now);
  // Lets everybody who ranks before this holder go first, without losing its place among its class: the lock is free
  // after it; granted() or refused() follows as for acquire(), or lost() if it turns out that somebody had removed the
  // lock. False if it is not held.
  bool step_aside(ContenderId contender, TimePoint deadline, TimePoint now);
  // Replaces the holder's record in privateLock (best effort). False if it is not held.
  bool update_record(ContenderId contender, std::string holder_record, TimePoint now);
  // Operations that succeed exactly while the lock is this contender's: to be put in front of the caller's own
  // operations in one transaction. Nothing if it is not held, or not certainly so at the moment. Not covered: somebody
  // who deletes privateLock alone by hand, leaving the contender's node, and a next holder whose privateLock has the
  // same version.
  std::optional<std::vector<coordination::Operation>> guard(ContenderId contender) const;

  // --- what the session says ---

  void on_session(const coordination::SessionEvent& event, TimePoint now);
  // Replies to requests that were sent with a tag of EngineOutput::send.
  void on_reply(coordination::RequestTag tag, coordination::Reply reply, TimePoint now);
  void on_watch(const coordination::WatchEvent& event, TimePoint now);
  // A request of the driver's own, sent at `sent`, was answered by the server. `write`: it was a transaction.
  void on_answered(TimePoint sent, bool write, TimePoint now,
                   coordination::ReplyCode code = coordination::ReplyCode::ok);

  // --- time ---

  // Does what is due. To be called at next_timer(), or somewhat later.
  void tick(TimePoint now);
  // The next instant at which tick() has something to do; `never` if there is none.
  TimePoint next_timer() const;

  // Ends everything: waiting contenders are refused, held locks are lost (closed). The caller closes the session.
  void close(TimePoint now);

  // --- what is known ---

  // Until when the session is certain to live on the server (lock/session_proof.h). A lock is not to be trusted from
  // this instant on.
  TimePoint valid_until() const;
  bool connected() const;
  coordination::SessionId session() const;
  // Nothing for a contender that is unknown or forgotten.
  std::optional<ContenderState> state(ContenderId contender) const;
  // When the oldest request was sent that has no reply yet; `never` if there is none. A server may keep a session alive
  // and still never answer a request.
  TimePoint oldest_unanswered() const;
  // Contenders not yet forgotten.
  std::size_t contenders() const;
  // Monitors that it knows something of, idle ones included.
  std::size_t monitors() const;

 private:
  std::unique_ptr<EngineCore> core_;
};

}  // namespace forelock::lock
