// The lock protocol of one process: every contender of every monitor over one session.
//
// Pure: no I/O, no threads, no clock, no randomness. Events go in with the time at which they are handled; decisions
// come out through EngineOutput. The real driver (client/) and the simulator run this same code.
//
// Not thread-safe: the driver serialises. `now` must not go backwards between calls.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coordination/session.h"
#include "lock/contender.h"
#include "lock/engine_types.h"
#include "lock/flight.h"
#include "lock/limits.h"
#include "lock/session_proof.h"
#include "lock/unused_monitors.h"
#include "lock/watch_ledger.h"

namespace forelock::lock {

class Monitor;

class Engine {
 public:
  Engine(EngineOptions options, EngineOutput& output);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // --- callers' requests ---

  // Contends for a monitor. Ends in granted() or refused(), by the deadline at the latest (given ticks).
  void acquire(ContenderId contender, AcquireSpec spec, TimePoint now);
  // Releases a held lock. Ends in released(); continues by itself over reconnects until it is certain. Does nothing to
  // a contender that is not held (any more): the result says whether a release was begun.
  bool release(ContenderId contender, TimePoint now);
  // Cancels a waiting contender: refused(cancelled) at once. False if it is not waiting.
  bool cancel(ContenderId contender, TimePoint now);
  // Lets all contenders that rank before this holder go first, without losing its place among its class: the lock is
  // free after it; granted() or refused() follows as for acquire(), or lost() if it turns out that another client had
  // removed the lock. False if it is not held.
  bool step_aside(ContenderId contender, TimePoint deadline, TimePoint now);
  // Makes a waiting contender one of this class, at the end of its queue. False if it does not wait: it may be about to
  // hold. \param record in place of AcquireSpec::record; empty: that stays.
  bool set_priority(ContenderId contender, Priority priority, RecordText record, TimePoint now);
  // Replaces the holder's record in privateLock (best effort). False if it is not held.
  bool update_record(ContenderId contender, std::string holder_record, TimePoint now);
  // Verifies at the servers that this holder still is one: proved() follows, from the answer to a request sent after
  // the last of these calls, or lost(). False if it is not held.
  bool prove(ContenderId contender, TimePoint now);
  // Makes other processes release the locks of these monitors that they keep unused. Best effort, without an answer: a
  // later request for the locks shows the effect.
  void knock(std::vector<std::string> monitors, TimePoint now);
  // From now on contended() tells of every contender behind this one while it holds. Not if it is unknown or gone.
  void want_contention(ContenderId contender, TimePoint now);
  // Whether others contend for this contender's monitor, or have lately, as far as is known without asking.
  bool others_known(ContenderId contender) const;
  // Operations that succeed exactly while the lock is this contender's: to be put in front of the caller's own
  // operations in one transaction. Nothing if it is not held, or not certainly so at the moment. Not covered: a
  // deletion of privateLock alone by hand, leaving the contender's node, and a next holder whose privateLock has the
  // same version.
  std::optional<std::vector<coordination::Operation>> guard(ContenderId contender) const;

  // --- the session's events ---

  void on_session(const coordination::SessionEvent& event, TimePoint now);
  // Replies to requests that were sent with a tag of EngineOutput::send.
  void on_reply(coordination::RequestTag tag, coordination::Reply reply, TimePoint now);
  void on_watch(const coordination::WatchEvent& event, TimePoint now);
  // A request of the driver's own, sent at `sent`, was answered by the server. `write`: it was a transaction.
  void on_answered(TimePoint sent, bool write, TimePoint now,
                   coordination::ReplyCode code = coordination::ReplyCode::ok);

  // --- time ---

  // Runs the timers that are due. To be called at next_timer(), or somewhat later.
  void tick(TimePoint now);
  // The next instant at which tick() has something to do; `never` if there is none.
  TimePoint next_timer() const;

  // Ends everything: waiting contenders are refused, held locks are lost (closed). The caller closes the session.
  void close(TimePoint now);

  // --- state ---

  // The time until which the session is certain to live on the server (lock/session_proof.h). A lock must not be
  // trusted from this instant on.
  TimePoint valid_until() const { return proof_.valid_until(); }
  // How long a connection may be away before waiting contenders are refused.
  Duration patience() const;
  // Nothing for a contender that is unknown or forgotten.
  std::optional<ContenderState> state(ContenderId contender) const;
  // When the oldest request was sent that has no reply yet; `never` if there is none. A server may keep a session alive
  // and still never answer a request.
  TimePoint oldest_unanswered() const;
  bool explains() const { return options_.explain; }
  // Moves a contender that waits, or soon does, to the queue of a more urgent class; its own class stays.
  void raise(ContenderId contender, Priority rank, TimePoint now);
  // The most urgent rank of those that are known to wait behind this holder: all, after want_contention().
  std::optional<Priority> waiting_behind(ContenderId holder) const;
  // Whether it stands, or has stood when it got its lock, in the queue of another class than its own.
  bool moved(ContenderId contender) const;
  // So little room for watches is left that none should be kept for speed alone.
  bool short_of_watches() const { return watches_.nearly_full(); }
  // Contenders not yet forgotten.
  std::size_t contenders() const { return contenders_.size(); }
  // Known monitors, idle ones included.
  std::size_t monitors() const { return monitors_.size(); }

 private:
  friend class Monitor;

  // --- for Monitor ---

  const EngineOptions& options() const { return options_; }
  EngineOutput& output() { return output_; }
  bool connected() const { return connected_; }
  // How long there has been no connection, in all.
  Duration disconnected(TimePoint now) const {
    return outage_.before + (outage_.since == never ? Duration(0) : now - outage_.since);
  }
  coordination::SessionId session() const { return session_; }
  const std::string& prefix(Priority priority) const { return options_.prefixes[priority]; }

  void explain(const Contender& contender, CourseStep step, std::string_view node = {}) {
    if (options_.explain) output_.explained(contender.id, {step, node, contender.number});
  }
  // A watch that the request asks for is left out if there is no room for it.
  coordination::RequestTag send(Flight flight, coordination::Request request, TimePoint now);
  // Whether the request has not been sent, and will not be. What kind of request it was.
  std::optional<FlightKind> withdraw(coordination::RequestTag tag);

  // The contender's claim is proved: granted now, or as soon as the session is proved alive.
  void grant(Contender& contender, TimePoint now);
  // The servers have said that it still holds.
  void proved(Contender& contender, TimePoint now);
  // They could not say so now, or not for long enough.
  void prove_later(Contender& contender, TimePoint now);
  // What its claim has proved is not certain any more.
  void withhold(const Contender& contender) { pending_grants_.erase(contender.id); }
  bool withheld(const Contender& contender) const { return pending_grants_.contains(contender.id); }
  void refuse(Contender& contender, Refusal refusal);
  void lose(Contender& contender, LossReason reason);
  // The answer to a release has been found.
  void finish_release(Contender& contender, ReleaseOutcome outcome);
  // Nothing of it is left; the reference is dead afterwards.
  void forget(Contender& contender);
  // A held lock is being given up: no more deadlines and timers for it.
  void end_hold(Contender& contender);
  void set_deadline(Contender& contender, TimePoint deadline);
  void set_poll(Monitor& monitor, TimePoint at);
  // When it is looked at whether this contender is to move.
  void set_move(Contender& contender, TimePoint at);
  // After how long a queue is looked at although its watches have told nothing.
  Duration safety_poll() const {
    return std::max<Duration>(options_.safety_poll, between_safety_polls * polls_.size());
  }
  // When the next queue may be looked at for which there is no room to watch it.
  TimePoint next_unwatched_look(TimePoint now);
  // With many watches a waiting contender has one, on the node before it, whatever the mode.
  WatchMode watch_mode() const { return sparing_watches() ? WatchMode::predecessor : options_.watch_mode; }
  bool sparing_watches() const { return watches_.filling(); }
  bool room_to_watch(const std::string& node) const { return watches_.room(WatchLedger::Kind::data, node); }
  // The monitor's idle list: a monitor without contenders is forgotten in the end.
  void became_idle(Monitor& monitor);
  void became_busy(Monitor& monitor);
  // The monitor's node may be removed when it is unused: to be looked at when it has lingered.
  void let_linger(const Monitor& monitor, TimePoint now);

  // --- its own ---

  enum class Timer { deadline, hold_watch, proof, move };
  using TimerEntry = std::pair<TimePoint, std::pair<ContenderId, Timer>>;

  Contender* find(ContenderId id) const;
  // The contender, if it holds its lock.
  Contender* find_holder(ContenderId id) const;
  // Declares held locks lost once the session can no longer be proved alive. Comes before everything else in every
  // event, so that a late reply cannot revive a lock whose holder has already seen it end.
  void enforce_deadline(TimePoint now);
  Monitor& monitor_of(const std::string& name);
  Monitor* monitor_of_path(const std::string& path, std::string* child) const;
  void on_connected(const coordination::SessionEvent& event, TimePoint now);
  void on_disconnected(TimePoint now);
  void on_expired(TimePoint now);
  void end_all(RefusalReason refusal, LossReason loss, ReleaseOutcome release);
  void heartbeat(bool write, TimePoint now);
  std::string heartbeat_path() const;
  void on_heartbeat(const Flight& flight, coordination::ReplyCode code);
  TimePoint next_heartbeat() const;
  bool proof_wanted() const { return !held_.empty() || !pending_grants_.empty(); }
  bool certain_for_a_while(TimePoint now) const;
  void grant_pending(TimePoint now);
  void want_proof(Contender& contender, TimePoint now);
  void answered(TimePoint sent, Reach reach, TimePoint now);
  void cancel_timers(Contender& contender);
  void give_up_waiting(TimePoint now);
  void evict(TimePoint now);  // never in the middle of a monitor's own work
  void remove_unused(TimePoint now);
  void remove_unused_last(TimePoint now);
  void send_removal(const std::vector<std::string>& names, TimePoint now);
  void send_single_removal(const std::string& name, TimePoint now);
  void send_knock(std::vector<std::string> names, int refusals, TimePoint now);
  void on_knocked(const Flight& flight, const coordination::Reply& reply, TimePoint now);
  bool may_go(const std::string& name, UnusedMonitors::Mark mark, TimePoint now);
  void on_looked_at_unused(const std::string& name, const coordination::Reply& reply, TimePoint now);
  void on_removed_unused(const Flight& flight, const coordination::Reply& reply, TimePoint now);
  void settle_all(TimePoint now);

  const EngineOptions options_;
  EngineOutput& output_;

  bool closed_ = false;
  bool connected_ = false;
  coordination::SessionId session_ = 0;
  Duration timeout_{0};
  SessionProof proof_;
  TimePoint
      leader_asked_{};   // when the last request through the leader was sent: a heartbeat, or one that was answered
  TimePoint written_{};  // the same, of writes
  bool heartbeat_in_flight_ = false;
  struct {
    TimePoint since = never;
    Duration before{0};  // in all, up to the present connection
    bool gave_up = false;
  } outage_;
  bool started_ = false;

  coordination::RequestTag next_tag_ = 1;
  std::uint64_t next_arrival_ = 1;
  std::unordered_map<coordination::RequestTag, Flight> flights_;
  WatchLedger watches_;
  std::unordered_map<ContenderId, std::unique_ptr<Contender>> contenders_;
  std::unordered_map<std::string, std::unique_ptr<Monitor>> monitors_;
  std::set<ContenderId> held_;
  std::set<ContenderId> pending_grants_;  // proved, but the session is not proved alive
  std::set<TimerEntry> timers_;
  std::set<std::pair<TimePoint, std::uint64_t>> polls_;  // by monitor's ordinal
  std::unordered_map<std::uint64_t, Monitor*> by_ordinal_;
  std::uint64_t next_ordinal_ = 1;
  TimePoint last_unwatched_look_{};
  std::list<Monitor*> idle_;  // least recently used first
  std::size_t idle_bytes_ = 0;
  UnusedMonitors unused_;
};

}  // namespace forelock::lock
