// A Monitor makes the decisions about one monitor object, all of them in settle().
//
// They rest on three kinds of knowledge, kept apart: the contenders of this process with their nodes; other processes'
// contenders (lock/listing.h); and the count that proves that there are none (lock/headcount.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lock/ageing.h"
#include "lock/contender.h"
#include "lock/contender_queue.h"
#include "lock/engine_types.h"
#include "lock/flight.h"
#include "lock/headcount.h"
#include "lock/listing.h"
#include "lock/service_times.h"
#include "lock/unused_monitors.h"

namespace forelock::lock {

class Engine;

class Monitor {
 public:
  Monitor(Engine& engine, std::string name, std::uint64_t ordinal);
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
  // Of those that are known to wait, whoever holds.
  std::optional<Priority> most_urgent_waiting() const;
  // Perhaps the contender is to move: it was time to look, or to ask again.
  void move_due(Contender& contender, TimePoint now);
  void raise(Contender& contender, Priority rank, TimePoint now);
  // False if it does not wait.
  bool set_priority(Contender& contender, Priority priority, RecordText record, TimePoint now);
  std::vector<coordination::Operation> guard(const Contender& contender) const;
  // The caller has its answer (refused or lost): begins to remove the remains. May forget the contender.
  void abandon(Contender& contender, TimePoint now);
  std::optional<QueuePosition> position_of(const Contender& contender) const;
  // The expected wait of a contender at this place. Empty as long as too little is known.
  std::optional<Duration> predicted_wait(Priority priority, std::size_t place) const;
  // How many of each rank go before this one that waits, holders among them, as far as is known.
  base::PerPriority<std::size_t> waiting_before(const Contender& contender) const;
  // Contenders of this process wait, or those of others have been seen lately.
  bool others_known() const { return !queue_.empty() || looks_.queue_expected || !listing_.others().empty(); }

  // --- the session ---

  void on_disconnected();
  // The write that precedes a resolving's reads may not have been applied.
  void barrier_lost();
  void on_reply(const Flight& flight, coordination::Reply reply, TimePoint now);
  // An event on the monitor's own node, or on the named child.
  void on_parent_event(coordination::WatchEvent::Kind kind, TimePoint now);
  void on_child_event(const std::string& child, coordination::WatchEvent::Kind kind, TimePoint now);

  // --- time ---

  void watch_held_lock(Contender& contender, TimePoint now);
  // Of one whose grant waits for the session's proof: asks whether it stands.
  void confirm(Contender& contender, TimePoint now);
  void poll(TimePoint now);

  // Makes all decisions that are possible now. Idempotent. Every request that begins an action is decided here; replies
  // only continue the action that they answer (claim, yield, enqueue).
  void settle(TimePoint now);
  // A contender of ours holds from now on.
  void granted(TimePoint now);
  // Called by the core before a contender is destroyed.
  void drop(Contender& contender);

  // The path on which this request sets a watch.
  std::string watched_path(const Flight& flight) const;

  bool idle() const { return all_.empty() && outstanding_ == 0 && !lock_.stray; }
  // The ZooKeeper client keeps a watch on its node, over reconnects.
  bool watch_registered() const { return headcount_.watch_registered(); }
  // Its node was created by a Forelock process, and may be removed when it is unused; while the mark is doubtful, only
  // after another read.
  bool removable() const { return node_.removable && !node_.kept; }
  UnusedMonitors::Mark mark() const { return node_.mark; }
  bool removable_unread() const { return removable() && node_.mark == UnusedMonitors::Mark::seen; }
  // What its node was found to be, when it was to be removed.
  void looked_at(const coordination::Reply& node);
  bool used_since_last_look() { return std::exchange(node_.used, false); }
  // The engine does not look at it any more.
  void stopped_lingering() { node_.lingers = false; }
  bool lingering() const { return node_.lingers; }
  // It was to be removed, and has come into use before.
  void linger_on(TimePoint now) {
    if (removable()) linger(now);
  }
  // Nobody of this process uses it any more once what is under way has been answered.
  bool ends_with_releases() const;
  // What follows finds no node, if all goes well.
  void removal_sent();
  // It was removed, and is not there unless it has been asked for again.
  void removed();
  // A lock of it that lingers elsewhere is not known to meet a contender of ours already.
  bool worth_knocking() const { return owner_ == nullptr && queue_.empty(); }
  // Our own knock counts as a child that somebody has made.
  void knock_sent() { headcount_.others_seen(); }
  void knocked();
  // While the engine keeps it only for what it knows: where in the engine's list.
  std::optional<std::list<Monitor*>::iterator> idle_position;
  TimePoint poll_at = never;

 private:
  static bool queued_before(const Contender* a, const Contender* b);
  // The findings of a resolving of lost replies so far.
  struct Findings {
    std::size_t pending = 0;
    bool failed = false;
    bool examined = false;  // the second step: nodes and privateLock have been asked for
    coordination::Reply list;
    coordination::Reply lock;
    std::map<std::string, coordination::Reply> nodes;
  };
  struct Resolving {
    bool needed = false;
    bool barrier_needed = false;  // what is to be resolved was sent over this connection, after its first write
    TimePoint not_before{};
    std::optional<Findings> findings;  // while it is under way

    bool busy() const { return needed || findings; }
  };

  // Decisions (monitor.cc).
  std::size_t enqueueing() const;
  bool another_may_go_before(const Contender& contender) const;
  void settle_owner(TimePoint now);
  bool can_claim_at_once() const;
  bool looks_first(const Contender& contender) const;
  Contender* claimant() const;
  void let_foreground_pass();
  void settle_idle(TimePoint now);
  void settle_queue(TimePoint now);
  void give_back(Contender& owner, TimePoint now);
  void look_while_held(TimePoint now);
  void look_in_turn(TimePoint now);
  void keep_watched(TimePoint now);
  Priority class_of(const ForeignContender& contender) const;
  void advise_contention(TimePoint now);
  void advise_positions();

  // Who may wait (monitor_admission.cc).
  void admit(TimePoint now);
  void note_wait(Contender& contender, std::size_t place, TimePoint now);
  bool places_wanted() const { return !position_watchers_.empty() || !applicants_.empty(); }

  // Moves between the queues of the classes (monitor_moves.cc).
  void want_rank(Contender& contender, Priority rank);
  void settle_moves(TimePoint now);
  void settle_ageing(TimePoint now);
  bool first_is_away() const;
  Contender* first_behind_foreground() const;
  bool foreground_before(const Contender& contender) const;
  std::size_t nodes_before(const Contender& contender) const;
  std::size_t others_before(const Contender& contender, Priority rank) const;
  void note_age(TimePoint asked, TimePoint now);
  void move(Contender& contender, TimePoint now);
  void on_move(const Flight& flight, Contender& contender, const coordination::Reply& reply, TimePoint now);
  void look_at_own_record(Contender& contender, TimePoint now);
  void on_record(const Flight& flight, Contender& contender, const coordination::Reply& reply, TimePoint now);
  void adopt_rank(Contender& contender, Priority rank);
  void start_anew(Contender& contender);

  // Requests (monitor_requests.cc).
  coordination::RequestTag send(Flight flight, coordination::Request request, TimePoint now);
  void ensure_monitor(TimePoint now);
  void expect_monitor();
  coordination::Create new_node() const;
  void fresh_claim(Contender& contender, TimePoint now);
  void fast_claim(Contender& contender, TimePoint now);
  void enqueue(Contender& contender, TimePoint now);
  void claim(Contender& contender, TimePoint now);
  void hand_over(Contender& leaver, Contender& next, TimePoint now);
  void release_lock(Contender& owner, TimePoint now);
  void yield(Contender& owner, TimePoint now);
  void prove_hold(Contender& owner, TimePoint now);
  void remove_node(Contender& contender, TimePoint now);
  void list(bool watch, ContenderId proof_for, TimePoint now);
  void watch_parent(ContenderId proof_for, TimePoint now);
  void watch_lock(TimePoint now);
  void watch_node(Contender& contender, TimePoint now);
  void read_record(Contender& contender, TimePoint now);

  // Replies (monitor_replies.cc; listings and watches: monitor_view.cc).
  void take_reply(const Flight& flight, Contender* contender, coordination::Reply reply, TimePoint now);
  void on_create_monitor(const coordination::Reply& reply, TimePoint now);
  void on_remove_lock(Contender* contender, const coordination::Reply& reply, TimePoint now);
  void on_remove_monitor(const coordination::Reply& reply);
  void on_fast_claim(const Flight& flight, Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_fresh_claim_refused(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_enqueue(const Flight& flight, Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_claim(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_hand_over(Contender* leaver, Contender* next, const coordination::Reply& reply, TimePoint now);
  void on_release(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_yield(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_prove_hold(Contender& contender, const coordination::Reply& reply, TimePoint now);
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
  void on_confirmed(Contender& contender, const coordination::Reply& reply, TimePoint now);
  void on_caught_up(Contender* contender, const coordination::Reply& reply);
  void judge_look(const Flight& flight, bool listed);
  void monitor_gone(const Flight& flight, Contender& contender, TimePoint now);
  void own_node_gone(Contender& contender);
  void back_to_queue(Contender& contender);
  void reject(Contender& contender, coordination::ReplyCode code, TimePoint now);
  void reject_all(coordination::ReplyCode code, TimePoint now);
  void explain_queued(const Contender& contender);
  bool abandon_claim(Contender& contender);
  bool withdraw_claim(const Contender& contender);
  void outcome_unknown(Contender& contender, TimePoint now);
  void need_resolve(TimePoint not_before);
  void monitor_missing();
  void made_by_us(TimePoint now);
  void linger(TimePoint now);
  void look_if_made_anew(TimePoint now);

  // Resolving (monitor_resolve.cc).
  void begin_resolve(TimePoint now);
  void on_resolve_reply(const Flight& flight, coordination::Reply reply, TimePoint now);
  void examine_nodes(TimePoint now);
  void conclude_resolve(TimePoint now);
  void verify_node(Contender& contender, const Findings& found);
  void adopt_node(Contender& contender, const Findings& found);
  void adopt_node_of_rank(Contender& contender, Priority rank, const Findings& found);
  void conclude_owner(Contender& contender, const Findings& found, TimePoint now);
  void conclude_other(Contender& contender, const Findings& found, TimePoint now);
  bool is_ours(const coordination::Reply& node, const Contender& contender) const;

  // Knowledge.
  bool position_known(const Contender& contender) const;
  QueuePosition position_at(std::size_t index) const;
  bool take_listing(const std::vector<std::string>& children, const coordination::Stat& parent);
  bool another_process_before(const Contender& contender) const;
  bool another_process_before_claim(const Contender& contender) const;
  bool would_be_outranked(Priority priority) const;
  bool is_clear(const Contender& contender) const;
  bool view_fresh_for(const Contender& first) const;
  bool old_listing_serves(const Contender& first) const;
  Duration look_interval(const Contender& first) const;
  Duration patience() const;
  void note_number(std::int64_t number);
  ChildName child_of(const Contender& contender) const;
  std::string child_path(std::string_view child) const;
  std::string new_node_path(Priority rank) const;
  void watch_predecessor(const Contender& first, bool old_listing, TimePoint now);

  Engine& engine_;
  const std::string name_;
  const std::string path_;
  const std::string lock_path_;
  const std::uint64_t ordinal_;

  // Ours.
  std::map<std::uint64_t, Contender*> all_;              // every contender, by arrival
  std::set<std::pair<std::uint64_t, Contender*>> idle_;  // by arrival
  std::set<std::pair<std::uint64_t, Contender*>> position_watchers_;
  std::set<std::pair<std::uint64_t, Contender*>> applicants_;  // of whom it is not known yet whether they may wait
  std::set<std::pair<std::uint64_t, Contender*>> movers_;      // who wants another rank, and has not been moved yet
  std::vector<Contender*> moving_;                             // whose move is under way
  ContenderQueue queue_{&Monitor::queued_before};              // waiting, not abandoned
  std::unordered_map<std::string, Contender*> nodes_;          // every own node that is known
  Contender* owner_ = nullptr;                                 // owns privateLock
  Contender* releasing_ = nullptr;                             // its release is under way and leaves the lock free
  Contender* claiming_at_once_ = nullptr;  // its first request, which claims the lock, is not answered yet
  struct {
    bool stray = false;        // privateLock is the session's, but of no contender; it goes
    bool in_flight = false;    // another request that changes privateLock is under way
    bool watched = false;      // for our holder
    std::int32_t version = 0;  // after everything sent so far
  } lock_;
  base::PerPriority<std::size_t> enqueueing_;
  std::size_t outstanding_ = 0;
  int misses_ = 0;  // how often in a row the monitor had vanished again when we came

  // The monitor's own node.
  struct {
    bool exists = false;
    bool shown_by_knock = false;  // a knock has found it; not claimed since
    std::uint32_t creations = 0;  // by this process
    bool removable = false;
    bool kept = false;  // a contender of ours has said that it is to stay
    UnusedMonitors::Mark mark = UnusedMonitors::Mark::seen;
    bool lingers = false;  // the engine will look at it
    bool used = false;     // since it did
    bool blocked = false;  // the sequence counter is at its end: waits for the monitor to empty
  } node_;

  Listing listing_;
  Headcount headcount_;
  Ageing ageing_;
  std::unique_ptr<base::PerPriority<ServiceTimes>> service_times_;  // null: nobody has been measured

  // When to ask (heuristics: they cost or spare requests, and decide nothing).
  struct {
    // The last grant had to be waited for: the next one probably, too, so it joins the queue without a claim that would
    // fail. (Four processes, sections without work: 7.1 requests for a section, 9.8 without; eight: 11.1 and 16.4.)
    bool queue_expected = false;
    // A single attempt was refused for a contender that ranks before it. Whoever asks again at once would take the lock
    // from under that one, for as long as the proof and the way back take: the next ones look before they claim.
    bool outranked = false;
    TimePoint held_since{};
    TimePoint turn = never;  // to look, among all queues that are not watched
    TimePoint not_before{};  // a change that cannot have made ours the next one: seen together with what follows
  } looks_;

  Resolving resolving_;
};

}  // namespace forelock::lock
