// A SetMachine takes several monitors as one lock: all of them or none, and without deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lock/engine_types.h"

namespace forelock::sets {

// One contender of one member. Numbers rise and do not come again in a machine.
using AttemptId = std::uint64_t;

// What the driver is to do for one attempt, in the order in which it is said.
struct Command {
  enum class Kind {
    try_once,    // acquire as a single attempt, without queueing
    acquire,     // acquire, waiting in the queue until the set's deadline
    step_aside,  // a held one lets others go first and keeps its place
    knock,       // of no attempt: make a process with which its lock lingers release it
    prove,       // ask whether a held one still is: proved() follows, or what has become of it
    give_up      // release it if it is held, else cancel it
  };
  Kind kind = Kind::try_once;
  std::size_t member = 0;
  AttemptId attempt = 0;
};

// clang-format off
//   stage      meaning                                               left by
//   ---------  ----------------------------------------------------  ------------------------------------------------
//   free       nothing is asked for and nothing is left               begin -> taking
//   taking     some members are held, the rest is being asked for,    all held and proved -> held;
//              or whether what was held during a wait still is        refused, cancel -> failing
//   held       every member is held                                   lost -> lost; release -> releasing;
//                                                                     step_aside -> taking
//   lost       a member was lost; the others are held until release   release -> releasing
//   failing    the acquisition has failed; what it took goes back     all given back -> free
//   releasing  every member is being released                         all released -> free
// clang-format on
enum class SetStage { free, taking, held, lost, failing, releasing };

std::string_view name_of(SetStage stage);

// Pure: no I/O, threads, clock or randomness. Not thread-safe.
//
// Members are numbered in canonical order. All that are not held are asked for at once, as single attempts. If one
// cannot be had, those behind it go back, and the set waits in its queue; then it asks for all the rest again. So a set
// waits only while it holds smaller members, and no cycle of sets can wait for each other. Each round takes the set at
// least one member further, so it waits at most once for each member, unless a member is lost on the way or given back
// to a contender that goes before the set.
//
// Locks that linger with another process look busy, one after the other. So when a set has to wait for a second member,
// it knocks at those behind it of which it has got none yet: they will be free when their turn comes.
//
// What is held while the set waits may be taken away by an administrator. So behind each wait the servers are asked
// whether it is still there, together with what the set does not hold.
class SetMachine {
 public:
  explicit SetMachine(std::size_t members);

  // --- the caller; each is allowed in the stages of the table only, and says whether it was ---

  // `try_only`: fails instead of waiting.
  bool begin(bool try_only);
  bool cancel(lock::RefusalReason reason = lock::RefusalReason::cancelled);
  bool release();
  // Lets others go first at every member. The place in the queue is kept at the first one alone: to keep it at another
  // would be to wait there, too, and to take it out of order.
  bool step_aside();

  // --- what became of attempts; for one that was given up only that it has ended ---

  void granted(AttemptId attempt, lock::Token token);
  // What was held during the set's last wait still is.
  void proved(AttemptId attempt);
  void refused(AttemptId attempt, const lock::Refusal& refusal);
  void lost(AttemptId attempt, LossReason reason);
  void released(AttemptId attempt, lock::ReleaseOutcome outcome);
  // A contender that goes before the set waits behind this held one. While the set waits for another member it gives
  // this one back and takes it anew afterwards; it keeps its place in the queue that it waits in.
  void outranked(AttemptId attempt);

  // What is to be done now. After each of the calls above, until it is empty: carrying one out may call them.
  std::vector<Command> take_commands();

  // --- what is known ---

  SetStage stage() const { return stage_; }
  std::size_t members() const { return members_.size(); }
  // The token of a member's last grant.
  lock::Token token(std::size_t member) const { return members_[member].token; }
  bool holds(std::size_t member) const { return members_[member].held; }
  // taking: every member is held, and nothing waits any more but for the proof of it.
  bool proving() const { return stage_ == SetStage::taking && settled_prefix_ == members(); }
  // taking: the member in whose queue the set waits.
  std::optional<std::size_t> waits_for() const;
  // The member of an attempt that has neither ended nor been given up.
  std::optional<std::size_t> member_of(AttemptId attempt) const;
  // Attempts that have not ended.
  std::size_t open_attempts() const { return open_.size(); }

  struct Failure {
    std::size_t member = 0;
    lock::Refusal refusal = {};
  };
  // Of the last acquisition.
  const std::optional<Failure>& failure() const { return failure_; }
  struct Loss {
    std::size_t member = 0;
    LossReason reason = LossReason::closed;
  };
  // The first one of the last grant.
  const std::optional<Loss>& loss() const { return loss_; }
  struct BadRelease {
    std::size_t member = 0;
    lock::ReleaseOutcome outcome = lock::ReleaseOutcome::gone;
  };
  // The first member, in the order of the answers, whose release found it gone.
  const std::optional<BadRelease>& bad_release() const { return bad_release_; }

 private:
  struct Member {
    AttemptId attempt = 0;  // 0: none
    bool held = false;
    bool proved = false;  // its grant, or its proof, is younger than the set's last wait
    bool outranked = false;
    bool granted_once = false;  // in this acquisition
    bool knocked = false;       // the same
    lock::Token token = 0;
  };

  void start(Command::Kind kind, std::size_t member);
  void give_up(std::size_t member);
  void give_up_behind(std::size_t member);
  void give_way(std::size_t member);
  void not_to_be_had(std::size_t member);
  void fail(std::size_t member, const lock::Refusal& refusal);
  void ask_for_all();
  void wait_for(std::size_t member);
  void advance();
  void end(AttemptId attempt);

  std::vector<Member> members_;
  std::unordered_map<AttemptId, std::size_t> open_;
  std::vector<Command> commands_;
  SetStage stage_ = SetStage::free;
  bool try_only_ = false;
  bool has_waited_ = false;  // in this acquisition
  AttemptId next_attempt_ = 1;
  // This many members from the first one on are held, or have been given back to contenders that go before the set.
  std::size_t settled_prefix_ = 0;
  std::size_t blocked_at_ = 0;  // the smallest member that cannot be had at once; members(): none
  std::optional<Failure> failure_;
  std::optional<Loss> loss_;
  std::optional<BadRelease> bad_release_;
};

}  // namespace forelock::sets
