// What the monitors of one engine share: the session, the requests under way, the timers, the contenders.
#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "lock/contender.h"
#include "lock/engine_types.h"
#include "lock/flight.h"
#include "lock/session_proof.h"
#include "lock/watch_ledger.h"

namespace forelock::lock {

class Monitor;

class EngineCore {
 public:
  EngineCore(EngineOptions options, EngineOutput& output);
  ~EngineCore();
  EngineCore(const EngineCore&) = delete;
  EngineCore& operator=(const EngineCore&) = delete;

  // --- for Engine ---

  void acquire(ContenderId id, AcquireSpec spec, TimePoint now);
  void on_session(const coordination::SessionEvent& event, TimePoint now);
  void on_reply(coordination::RequestTag tag, coordination::Reply reply, TimePoint now);
  void on_watch(const coordination::WatchEvent& event, TimePoint now);
  void answered(TimePoint sent, Reach reach, TimePoint now);
  void tick(TimePoint now);
  TimePoint next_timer() const;
  void close(TimePoint now);
  Contender* find(ContenderId id) const;

  // Declares held locks lost once the session can no longer be proved alive. Comes before everything else in every
  // event, so that a late reply cannot revive a lock whose holder has already seen it end.
  void enforce_deadline(TimePoint now);

  // --- for Monitor ---

  const EngineOptions& options() const { return options_; }
  EngineOutput& output() { return output_; }
  bool connected() const { return connected_; }
  coordination::SessionId session() const { return session_; }
  TimePoint valid_until() const { return proof_.valid_until(); }
  const std::string& prefix(Priority priority) const {
    return priority == Priority::foreground ? options_.foreground_prefix : options_.background_prefix;
  }

  // A watch that the request asks for is left out if there is no room for it.
  void send(Flight flight, coordination::Request request, TimePoint now);

  // The contender's claim is proved: granted now, or as soon as the session is proved alive.
  void grant(Contender& contender, TimePoint now);
  // What its claim has proved is not certain any more.
  void withhold(const Contender& contender) { pending_grants_.erase(contender.id); }
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
  // The monitor's idle list: whoever has no contenders is forgotten in the end.
  void became_idle(Monitor& monitor);
  void became_busy(Monitor& monitor);

  TimePoint oldest_unanswered() const;
  std::size_t contender_count() const { return contenders_.size(); }
  std::size_t monitor_count() const { return monitors_.size(); }

 private:
  enum class Timer { deadline, hold_watch };
  using TimerEntry = std::pair<TimePoint, std::pair<ContenderId, Timer>>;

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
  void cancel_timers(Contender& contender);
  void give_up_waiting(TimePoint now);
  void evict(TimePoint now);  // never in the middle of a monitor's own work
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
  TimePoint down_since_ = never;
  bool gave_up_ = false;
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
  std::list<Monitor*> idle_;  // least recently used first
  std::size_t idle_bytes_ = 0;
};

}  // namespace forelock::lock
