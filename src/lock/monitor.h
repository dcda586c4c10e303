// The line in front of one monitor, as this process sees it, and the decisions about it.
//
// Three kinds of knowledge, kept apart:
//  - what is ours: contenders with their nodes (queue_, nodes_), and who of ours owns privateLock (owner_);
//  - the last listing: contenders of other sessions and whether privateLock existed (foreign_, lock_seen_). It is
//    fresh as long as the watch that was set with it has not fired;
//  - the count: if the last listing, or the number of children behind a first claim, showed nobody else and every
//    create since then got exactly the number that our own creates account for, there is nobody else (alone_next_). It
//    holds while the monitor is not re-created, which the data watch on the monitor tells, and only within one
//    connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lock/contender.h"
#include "lock/contender_queue.h"
#include "lock/engine_types.h"
#include "lock/flight.h"
#include "lock/queue_order.h"

namespace forelock::lock {

class EngineCore;

class Monitor {
 public:
  Monitor(EngineCore& core, std::string name, std::uint64_t ordinal);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  std::uint64_t ordinal() const { return ordinal_; }

  // --- callers ---

  void add(Contender& contender, TimePoint now);
  void release(Contender& contender, TimePoint now);
  void step_aside(Contender& contender, TimePoint now);
  void update_record(Contender& contender, std::string record, TimePoint now);
  std::vector<coordination::Operation> guard(const Contender& contender) const;
  // The caller has its answer (refused or lost): begins to remove what is left. May forget the contender.
  void abandon(Contender& contender, TimePoint now);
  std::optional<Position> position_of(const Contender& contender) const;

  // --- the session ---

  void on_disconnected();
  // The write before what is read to find something out was not applied, perhaps.
  void barrier_lost();
  void on_reply(const Flight& flight, coordination::Reply reply, TimePoint now);
  // An event on the monitor's own node, or on the named child.
  void on_parent_event(coordination::WatchEvent::Kind kind, TimePoint now);
  void on_child_event(const std::string& child, coordination::WatchEvent::Kind kind, TimePoint now);

  // --- time ---

  void watch_held_lock(Contender& contender, TimePoint now);
  void poll(TimePoint now);

  // Does what can be done now: the one place where decisions are made. Idempotent.
  void settle(TimePoint now);
  // A claim that waited for proof that the session is alive.
  void granted(TimePoint now);
  // Called by the core before a contender is destroyed.
  void drop(Contender& contender);

  // The path on which this request sets a watch.
  std::string watched_path(const Flight& flight) const;

  bool idle() const { return all_.empty() && outstanding_ == 0 && !stray_; }
  bool parent_watch_registered() const { return parent_watch_registered_; }
  std::list<Monitor*>::iterator idle_position{};
  bool in_idle_list = false;
  TimePoint poll_at = never;

 private:
  static bool queued_before(const Contender* a, const Contender* b);
  // What the resolving of lost replies has found out so far.
  struct Resolve {
    std::size_t pending = 0;
    bool failed = false;
    bool examined = false;  // the second step: nodes and privateLock have been asked for
    coordination::Reply list;
    coordination::Reply lock;
    std::map<std::string, coordination::Reply> nodes;
  };

  // Decisions (monitor.cc).
  void settle_owner(TimePoint now);
  bool can_claim_at_once() const;
  Contender* claimant() const;
  void settle_idle(TimePoint now);
  void settle_queue(TimePoint now);
  void give_back(Contender& owner, TimePoint now);
  void look_while_held(TimePoint now);
  void keep_watched(TimePoint now);
  void advise_contention(TimePoint now);
  void advise_positions();

  // Requests (monitor_requests.cc).
  void send(Flight flight, coordination::Request request, TimePoint now);
  void ensure_monitor(TimePoint now);
  void fast_claim(Contender& contender, TimePoint now);
  void enqueue(Contender& contender, TimePoint now);
  void claim(Contender& contender, TimePoint now);
  void hand_over(Contender& leaver, Contender& next, TimePoint now);
  void release_lock(Contender& owner, TimePoint now);
  void yield(Contender& owner, TimePoint now);
  void remove_node(Contender& contender, TimePoint now);
  void list(bool watch, ContenderId proof_for, TimePoint now);
  void watch_parent(ContenderId proof_for, TimePoint now);
  void watch_lock(TimePoint now);
  void watch_node(Contender& contender, TimePoint now);

  // Replies (monitor_replies.cc; listings and watches: monitor_view.cc).
  void on_create_monitor(const coordination::Reply& reply, TimePoint now);
  void on_fast_claim(const Flight& flight, Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_enqueue(const Flight& flight, Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_claim(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_hand_over(Contender* leaver, Contender* next, const coordination::Reply& reply, TimePoint now);
  void on_release(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_yield(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_remove_node(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_list(const Flight& flight, coordination::Reply reply, TimePoint now);
  void on_watch_parent(const Flight& flight, const coordination::Reply& reply, TimePoint now);
  void on_watch_predecessor(const Flight& flight, const coordination::Reply& reply, TimePoint now);
  void on_watch_lock(const Flight& flight, const coordination::Reply& reply, TimePoint now);
  void on_watch_node(const Flight& flight, Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_own_node_removed(Contender& contender, TimePoint now);
  void on_watched_child_changed(bool gone, TimePoint now);
  void claimed(Contender& contender, TimePoint now);
  bool is_proof(const Flight& flight) const;
  void judge(Contender& contender, bool somebody_before, TimePoint now);
  void monitor_gone(const Flight& flight, Contender& contender, TimePoint now);
  void own_node_gone(Contender& contender);
  void back_to_queue(Contender& contender);
  void reject(Contender& contender, coordination::ReplyCode code, TimePoint now);
  void reject_all(coordination::ReplyCode code, TimePoint now);
  void outcome_unknown(Contender& contender, TimePoint now);
  void need_resolve(TimePoint not_before);
  void monitor_missing();

  // Resolving (monitor_resolve.cc).
  void begin_resolve(TimePoint now);
  void on_resolve_reply(const Flight& flight, coordination::Reply reply, TimePoint now);
  void examine_nodes(TimePoint now);
  void conclude_resolve(TimePoint now);
  void verify_node(Contender& contender, const Resolve& found);
  void adopt_node(Contender& contender, const Resolve& found);
  void conclude_owner(Contender& contender, const Resolve& found, TimePoint now);
  void conclude_other(Contender& contender, const Resolve& found, TimePoint now);
  bool is_ours(const coordination::Reply& node, const Contender& contender) const;

  // Knowledge.
  Position position_at(std::size_t index) const;
  void note_watch(const Flight& listing);
  void note_parent(const coordination::Stat& parent);
  bool take_listing(const std::vector<std::string>& children, const coordination::Stat& parent);
  std::size_t foreign_before(const Contender& contender) const;
  const ForeignContender* last_foreign_before(const Contender& contender) const;
  bool somebody_before_grant(const Contender& contender) const;
  bool is_clear(const Contender& contender) const;
  bool view_fresh_for(const Contender& first) const;
  Duration look_interval(const Contender& first) const;
  void forget_listing();
  void look_again();
  Duration patience() const;
  void note_number(std::int64_t number);
  ChildName child_of(const Contender& contender) const;
  std::string child_path(std::string_view child) const;
  std::string new_node_path(const Contender& contender) const;
  void watch_predecessor(const Contender& first, TimePoint now);

  EngineCore& core_;
  const std::string name_;
  const std::string path_;
  const std::string lock_path_;
  const std::uint64_t ordinal_;

  // Ours.
  std::map<std::uint64_t, Contender*> all_;              // every contender, by arrival
  std::set<std::pair<std::uint64_t, Contender*>> idle_;  // by arrival
  ContenderQueue queue_{&Monitor::queued_before};        // waiting, not abandoned
  std::unordered_map<std::string, Contender*> nodes_;    // every own node that is known
  Contender* owner_ = nullptr;                           // owns privateLock
  Contender* releasing_ = nullptr;                       // its release is under way and leaves the lock free
  bool stray_ = false;                                   // privateLock is the session's, but of no contender; it goes
  bool lock_flight_ = false;                             // another request that changes privateLock is under way
  std::int32_t lock_version_ = 0;                        // of privateLock, after everything sent so far
  std::size_t enqueueing_ = 0;
  std::size_t enqueueing_foreground_ = 0;
  std::size_t outstanding_ = 0;
  std::size_t position_watchers_ = 0;
  int misses_ = 0;  // how often in a row the monitor had vanished again when we came

  // The monitor's own node.
  bool exists_ = false;
  std::uint32_t creations_ = 0;           // of its node, by this process
  bool parent_watch_trusted_ = false;     // set in this connection and not fired
  bool parent_watch_registered_ = false;  // the client will re-register it
  bool parent_watch_in_flight_ = false;
  std::optional<std::int64_t> alone_next_;
  bool shared_ = false;         // the count did not hold the last time: others use this monitor too
  bool line_expected_ = false;  // the last grant had to be waited for: the next one probably, too
  bool blocked_ = false;        // the sequence counter is at its end: waits for the monitor to empty
  bool counter_told_ = false;
  MonitorCount count_known_;  // at least

  // The last listing.
  bool listed_ = false;
  std::vector<ForeignContender> foreign_;
  bool lock_seen_ = false;
  std::size_t children_seen_ = 0;
  std::int64_t listed_count_ = 0;  // creates as of the listing
  bool children_watched_ = false;  // the watch set with it has not fired
  bool unwatched_ = false;         // there was no room for a watch: looks at intervals
  ContenderId fresh_for_ = 0;      // our first contender, if the node before it is watched, or will be at once
  std::string watched_child_;      // that node
  std::size_t listings_in_flight_ = 0;
  bool lock_watch_armed_ = false;

  TimePoint last_listing_{};
  TimePoint held_since_{};
  TimePoint look_not_before_{};  // a change that cannot have made ours the next one: seen together with what follows
  bool needs_resolve_ = false;
  bool barrier_needed_ = false;  // what is to be resolved was sent over this connection, after its first write
  TimePoint resolve_not_before_{};
  std::optional<Resolve> resolve_;
};

}  // namespace forelock::lock
