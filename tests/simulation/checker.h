// Judges every step by the leader's log (the truth) and by what the engines told their callers.
//
// A contender believes to hold from `granted` until its process calls release or step_aside, is told of the loss, or
// its local deadline passes.
#pragma once

#include "invariant.h"
#include "model/ensemble.h"
#include "plan.h"
#include "statistics.h"
#include "trace.h"

namespace forelock::simulation {

// The node that guarded writes change.
inline constexpr std::string_view guarded_path = "/D";

// A process, as the checker needs to know it.
class Believer {
 public:
  virtual Instant valid_until() const = 0;
  // Since when it has been able to act on timers; in the future while it stands still.
  virtual Instant awake_since() const = 0;
  // Since when it has been connected and nothing was in its way; in the future while it is not.
  virtual Instant calm_since() const = 0;
  // Since when it has been connected; in the future while it is not.
  virtual Instant connected_since() const = 0;
  // Whether its background contenders do (lock/ageing.h).
  virtual bool ages() const = 0;

 protected:
  ~Believer() = default;
};

// Lingering: its caller has finished, and its process keeps the lock.
enum class Phase { waiting, held, lingering, releasing, done };
// How a contender's privateLock went.
enum class LockEnd { none, own_request, other_request, session };

struct Contender {
  const Believer* process = nullptr;  // null: a literal client
  std::size_t monitor = 0;
  Priority priority = Priority::foreground;
  bool reclassified = false;  // by its caller, while it waited
  // What an operator wishes it to be, in which node, since when; nothing if it has changed its class since.
  std::optional<Priority> wish;
  std::string wished_node;
  Instant wished_at{};
  std::size_t record_changes = 0;  // by others, of the data of its nodes
  std::size_t told_changes = 0;
  Phase phase = Phase::waiting;
  bool forgotten = false;
  bool closing = false;         // its engine has been closed: the session ends
  bool stepping_aside = false;  // a holder that waits to hold again: its lock may turn out to have been removed
  Instant deadline{};
  Instant called_at{};
  bool may_be_refused = false;  // for those who wait before it
  Instant granted_at{};
  Instant robbed_at{};
  Instant lingers_since{};
  bool told_of_change = false;  // since its grant: of the children of its monitor
  Span hold_watch_later{};      // as lock::AcquireSpec
  std::uint64_t outer = 0;      // what its caller holds meanwhile
  // Since when it has been seen to wait in the background while somebody of the foreground waits behind that.
  std::optional<Instant> blocks_since;
  int open_writes = 0;  // under its guard, unanswered
  // Truth.
  std::string node;                      // the last one created; empty when it is gone
  std::string last_node;                 // likewise, but kept
  Priority rank = Priority::foreground;  // of that node
  Instant queued_at{};                   // when that was created
  std::vector<Instant> left_before;      // when each of those went that were before it in the same queue
  coordination::SessionId node_session = 0;
  std::int64_t node_zxid = 0;
  std::int64_t number = 0;
  std::int64_t claim_zxid = 0;
  // Who ranked before it when its claim was applied, each with the node it had.
  std::vector<std::pair<std::uint64_t, std::string>> passed;
  lock::Token token = 0;
  LockEnd lock_end = LockEnd::none;
  // The reply to a request that gives its lock up was lost: whether that or somebody else has removed it, who can say?
  bool giving_up_unknown = false;
  // privateLock was taken from under it by an administrator, or by a release that could not know.
  bool robbed = false;
  // Its node or its lock was deleted by an administrator; an event about that was delivered since; before it was ended.
  bool deleted_by_hand = false;
  bool deleted_by_hand_once = false;  // not reset by the next claim
  bool told = false;
  bool told_at_end = false;
};

// Room for every watch that a process may want. With less, a holder may be told of nothing.
inline constexpr std::size_t enough_to_watch_all = 4096;

class Checker final : public model::Actor {
 public:
  Checker(const Plan& plan, model::Timeline& timeline, model::Ensemble& ensemble, Statistics& statistics, Trace& trace);

  // --- callers ---

  std::uint64_t add(const Believer* process, const PlannedCall& call, Instant deadline);
  void release_called(std::uint64_t id, bool begun);
  void cancel_called(std::uint64_t id, bool begun);
  void step_aside_called(std::uint64_t id, bool begun, Instant deadline);
  // The lock is kept, without a caller.
  void lingers(std::uint64_t id);
  // A caller of this class gets it.
  void taken_again(std::uint64_t id, Priority priority);
  // It is released; `begun`: by the engine.
  void given_up(std::uint64_t id, bool begun);
  // It waits while its caller holds the other one.
  void inside(std::uint64_t inner, std::uint64_t outer);
  bool ended(std::uint64_t id) const { return contenders_[id - 1].phase == Phase::done; }
  void abandoned(std::uint64_t id);  // its process is gone
  void closing(std::uint64_t id) { at(id).closing = true; }
  Contender& at(std::uint64_t id) { return contenders_[id - 1]; }
  std::size_t contenders() const { return contenders_.size(); }

  // --- what an engine says ---

  void granted(std::uint64_t id, const lock::Grant& grant);
  // `down_for`: how long its process has been without a connection.
  void refused(std::uint64_t id, lock::RefusalReason reason, Span down_for);
  void lost(std::uint64_t id, LossReason reason);
  void released(std::uint64_t id, lock::ReleaseOutcome outcome);
  void forgotten(std::uint64_t id);
  void record_change_told(std::uint64_t id);
  void class_changed(std::uint64_t id, Priority priority);
  // Before every call to an engine, and after everything that a process does: what was over is not revived by it.
  void before_call(const Believer& process);
  void check_beliefs(const Believer& process);
  void watch_delivered(const Believer& process, const coordination::WatchEvent& event);
  void session_ended(const Believer& process);

  // --- truth ---

  void applied(const model::LogEntry& entry, const std::vector<model::Change>& changes);
  // The owner of privateLock by the record in it, 0 for none.
  std::uint64_t owner(std::size_t monitor) const { return monitors_[monitor].owner; }
  // Whether an administrator has deleted its privateLock alone, or the monitor with everything in it: from then on
  // names and versions do not tell whose nodes a request finds (docs/protocol.md, "Limits").
  bool undecidable(std::size_t monitor) const { return monitors_[monitor].undecidable; }
  // Whether it was made so soon after its removal that a process which had used the former one need not know of that.
  bool made_anew_unnoticed(std::size_t monitor) const;
  // How often its privateLock has been deleted.
  std::uint32_t times_freed(std::size_t monitor) const { return monitors_[monitor].times_freed; }
  // A contender that waits with a node of its own, 0 for none.
  std::uint64_t some_waiter(std::size_t monitor) const;
  // All of them, but for literal ones.
  std::vector<std::uint64_t> waiters(std::size_t monitor) const;
  // The first one with a node at this contender's monitor that is of the same session: the holder, or who waits first.
  std::uint64_t first_of_session(std::uint64_t id) const;
  // An operator has written it into its node (checker_wishes.cc).
  void wished(std::uint64_t id, Priority priority);
  void touched(std::uint64_t id) { ++at(id).record_changes; }
  void fire(std::uint32_t what, std::uint64_t detail) override;

  // --- at the end ---

  void nothing_left();

  void fail(Invariant invariant, std::string text);
  const Violation& violation() const { return violation_; }
  Instant last_progress() const { return last_progress_; }
  void progress() { last_progress_ = now(); }

 private:
  struct Monitor {
    std::uint64_t owner = 0;
    coordination::SessionId owner_session = 0;
    bool present = false;
    std::vector<std::uint64_t> nodes;  // contenders with a node
    lock::Token last_token = 0;
    bool undecidable = false;
    std::int64_t made_by = 0;  // the transaction that created it
    // When it was last made, and what was there before was removed.
    Instant made_at{};
    Instant former_removed_at = model::Timeline::start - std::chrono::hours(1);
    Instant removed_at = model::Timeline::start - std::chrono::hours(1);
    std::uint32_t times_freed = 0;
    bool foreign = false;  // it has a child that is nobody's contender
    Instant busy_until{};  // somebody held or waited until then, if nobody does now
    // Who stands first in its queue, and since when nobody has held the lock.
    std::uint64_t first = 0;
    Instant vacant_since{};
    std::size_t passed_over = 0;  // how often others have taken it since then, and had to give it back
    // Who is the first of the background and is to age, and since when it has been, behind somebody of the foreground.
    std::uint64_t ageing = 0;
    Instant ageing_since{};
    Instant last_foreground = model::Timeline::start;  // when such a node was created last
  };
  struct LockChange {
    bool touched = false;
    bool created = false;
    bool deleted = false;
  };
  enum What : std::uint32_t {
    call_due,
    loss_due,
    removal_due,
    linger_due,
    vacancy_due,
    ageing_due,
    nesting_due,
    wish_due
  };

  Instant now() const { return timeline_.now(); }
  bool session_lives(const Contender& contender) const;
  bool believes(const Contender& contender) const;
  bool waits(const Contender& contender) const { return contender.phase == Phase::waiting && !contender.node.empty(); }
  bool goes_before(const Contender& a, const Contender& b) const;
  std::string name(std::uint64_t id) const;
  void node_created(const model::LogEntry& entry, const std::string& path, const std::vector<std::uint64_t>& replaced);
  void node_deleted(const model::LogEntry& entry, const model::Change& change);
  void lock_changed(const model::LogEntry& entry, std::size_t monitor, const LockChange& change,
                    const std::vector<model::Change>& changes);
  void judge_removal(const model::LogEntry& entry, std::size_t monitor, const std::vector<model::Change>& changes);
  bool unaware(const model::LogEntry& entry, std::size_t monitor) const;
  bool had_name(const Believer& process, std::size_t monitor, const std::string& node) const;
  bool has_namesake(const Contender& one) const;
  void rob(std::uint64_t id);
  // It was deleted by hand: its process is to know before long.
  void expect_news_of_removal(std::uint64_t id);
  bool anybody_beside(std::uint64_t id) const;
  bool undone_by_hand(const Contender& contender) const { return contender.robbed || contender.deleted_by_hand; }
  // A lock that nobody holds goes to the first in its queue, whatever goes on meanwhile (checker_vacancy.cc).
  std::uint64_t first_in_queue(std::size_t monitor) const;
  bool held_by_somebody(std::size_t monitor) const;
  void look_at_vacancy(std::size_t monitor);
  void vacancy_lasts(std::size_t monitor, std::uint64_t first);
  // Background contenders move in their time (checker_ageing.cc).
  bool ageing_judged(std::size_t monitor) const;
  void left_queue(const Contender& contender);
  void moved(std::uint64_t id, const Contender& former);
  std::uint64_t first_to_age(std::size_t monitor) const;
  void look_at_ageing(std::size_t monitor);
  bool foreground_waits_behind(std::uint64_t outer) const;
  void look_at_nesting(std::uint64_t inner);
  void ageing_lasts(std::size_t monitor, std::uint64_t first);
  void wish_lasts(std::uint64_t id);
  void check_lingering(const Believer& process);
  void judge_versions(const model::LogEntry& entry);
  void end(std::uint64_t id);
  void judge_guard(const model::LogEntry& entry, const model::Tree& truth);
  void new_owner(std::size_t index, std::uint64_t id, const model::LogEntry& entry);

  const Plan& plan_;
  model::Timeline& timeline_;
  model::Ensemble& ensemble_;
  Statistics& statistics_;
  Trace& trace_;
  Violation violation_;
  Instant last_progress_;
  std::vector<Contender> contenders_;
  std::vector<std::uint64_t> held_;
  std::vector<std::uint64_t> lingering_;
  std::vector<std::uint64_t> without_monitor_;  // who held when its process heard of their monitor's end
  std::vector<std::uint64_t> overdue_;          // who held although their time was over
  std::array<Monitor, max_monitors> monitors_;
};

// Guarded writes and new holder records tell whether their process had heard of a deletion by hand when it sent them.
inline constexpr char unaware_write = 'w';
inline constexpr char aware_write = 'x';
inline constexpr char unaware_update = 'u';
inline constexpr char aware_update = 'v';

// What an operator wishes a contender to be.
inline constexpr char foreground_wish = 'F';
inline constexpr char background_wish = 'B';
std::optional<Priority> wish_in(std::string_view record);

// Records: one letter for what it is, and the contender's guid.
std::string guid_of(std::uint64_t id);
std::string record_of(char kind, std::uint64_t id);
// 0 if it is nobody's.
std::uint64_t contender_in(std::string_view record);

// Of a path such as /P/A-0000000003: the monitor's index, or max_monitors; and the child's name.
std::size_t monitor_in(std::string_view path);
std::string monitor_path(std::size_t monitor);
std::string lock_path(std::size_t monitor);

}  // namespace forelock::simulation
