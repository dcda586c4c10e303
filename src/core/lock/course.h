// The course of a contender, for a log: the node that it waits for, the proof of its grant, the reason of its yield.
#pragma once

#include <cstdint>
#include <string_view>

namespace forelock::lock {

enum class CourseStep {
  claims_at_once,      // as far as is known the lock is free: own node and privateLock (and the monitor, if it is not
                       // known) in one transaction
  queued,              // its own node is in the queue: `node`
  behind,              // first of this process, or behind another one of it; `node` goes before it, or is privateLock
  claims,              // it is the next: privateLock is asked for
  handed_over,         // a holder of this process, `node`, gives it the lock
  taken,               // another contender holds the lock, or was faster
  numbered_first,      // proved by its `number` (lock/headcount.h)
  seen_first,          // no later contender can overtake it, and a listing taken behind its creation shows none before
  counted_first,       // proved by the number of children since its claim
  listed_first,        // proved by a listing sent behind its claim
  resolved_first,      // proved by what was read after a lost reply
  session_unproved,    // granted when the session is proved to live
  yields,              // gives the lock back: `node` goes before it
  steps_aside,         // lets others go first, as asked
  moves,               // to the end of another class's queue: `node` was its own until then
  node_gone,           // its own node is not in the queue (any more): begins anew
  reply_lost,          // what the server did is found out
  resolved_owner,      // privateLock is its own
  resolved_queued,     // its own node, `node`, is in the queue
  resolved_not_there,  // nothing was applied: begins anew
};

struct CourseNote {
  CourseStep step = CourseStep::queued;
  std::string_view node = {};  // valid during the call
  std::int64_t number = 0;
};

}  // namespace forelock::lock
