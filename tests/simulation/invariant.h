// The properties that every schedule must have: the nine of the design, and a few more.
#pragma once

#include "support/standard.h"

namespace forelock::simulation {

enum class Invariant {
  none,
  one_holder,        // 1: nobody believes to hold what is not, or no longer, held
  tokens_rise,       // 2
  foreground_first,  // 3
  fifo,              // 4
  nothing_left,      // 5: no node outlives its contender
  wishes,            // an operator's wish is read once, and in time
  ageing,            // a background contender moves when it has waited for its time, and no earlier
  nesting,           // nor does one keep the foreground waiting that waits for a lock inside of its own
  in_time,           // 6: every call returns by its deadline
  own_locks_only,    // 7: nobody frees somebody else's lock
  no_lost_wakeup,    // 8: with faults over, every waiter is served
  one_ending,        // 9: every operation ends exactly once
  no_cycle,          // 10: sets do not wait for each other in a circle
  all_or_nothing,    // a set is held with all its members, and otherwise with none
  lingering,         // a lock that no caller holds is handed out once, while it is certain, and given up in time
  guard,             // guarded writes fail once the lock is gone
  in_line,           // who takes the lock stands in the queue
  no_exception,      // the engine never throws
  told_of_loss,      // a holder learns that its lock was removed or cannot be proved any more, and of nothing else
  outcomes,          // releases and refusals are what they are said to be
  requests           // nothing is sent that the protocol does not know
};

constexpr std::string_view name_of(Invariant invariant) {
  switch (invariant) {
    case Invariant::none:
      return "none";
    case Invariant::one_holder:
      return "1 at most one holder";
    case Invariant::tokens_rise:
      return "2 tokens rise";
    case Invariant::foreground_first:
      return "3 foreground first";
    case Invariant::fifo:
      return "4 FIFO within a priority";
    case Invariant::nothing_left:
      return "5 no node outlives its contender";
    case Invariant::wishes:
      return "an operator's wish is told once, and in time";
    case Invariant::ageing:
      return "a background contender moves in its time";
    case Invariant::nesting:
      return "a contender inside of a lock that the foreground waits for moves";
    case Invariant::in_time:
      return "6 every call returns by its deadline";
    case Invariant::own_locks_only:
      return "7 nobody frees somebody else's lock";
    case Invariant::no_lost_wakeup:
      return "8 every waiter is served";
    case Invariant::one_ending:
      return "9 every operation ends exactly once";
    case Invariant::no_cycle:
      return "10 no cycle of waits among sets";
    case Invariant::all_or_nothing:
      return "a set is held as a whole or not at all";
    case Invariant::lingering:
      return "lingering locks are handed out once and given up in time";
    case Invariant::guard:
      return "guarded writes fail once the lock is gone";
    case Invariant::in_line:
      return "who takes the lock stands in the queue";
    case Invariant::no_exception:
      return "the engine does not throw";
    case Invariant::told_of_loss:
      return "holders are told of their loss";
    case Invariant::outcomes:
      return "outcomes are true";
    case Invariant::requests:
      return "requests are those of the protocol";
  }
  return "?";
}

struct Violation {
  Invariant invariant = Invariant::none;
  std::string text;

  explicit operator bool() const { return invariant != Invariant::none; }
};

}  // namespace forelock::simulation
