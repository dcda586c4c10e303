// A Contender is the engine's state of one acquisition, from its call to the removal of its last node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lock/contender_state.h"
#include "lock/engine_types.h"
#include "lock/headcount.h"

namespace forelock::lock {

class Monitor;

struct Contender {
  ContenderId id = 0;
  Monitor* monitor = nullptr;
  AcquireSpec spec;
  std::uint64_t arrival = 0;  // order of acquire() calls

  // Changed by move_to() alone.
  ContenderState state = ContenderState::idle;
  // The caller has its final answer; possible remains on the server are being removed.
  bool abandoned = false;
  // A removal of the own node is on its way.
  bool removing = false;
  // A release (or a step aside) was sent and its reply lost: it may have removed nodes that the resolving does not
  // find.
  bool release_unknown = false;
  // A holder that lets others go first: until that is done, it can still learn that its lock was removed.
  bool stepping_aside = false;
  // Proved that no contender of another process ranks before it: of the foreground permanently; of the background for
  // the claim that proved it by its number.
  bool clear = false;
  // Its own node and privateLock were created in one transaction: only lower numbers were enqueued before the grant.
  bool claimed_at_creation = false;
  // The listing that proves (or disproves) its rank has been sent.
  bool proof_requested = false;
  // How many of its requests were answered session_expired. If the session lives, it may have no ephemeral nodes.
  int told_expired = 0;
  // It was the first of this process, and others went before it.
  bool waited = false;
  // As a holder: the servers are to be asked whether it still is one; how often they have been, without an answer yet;
  // when they are to be asked again; when its lock is watched.
  struct {
    bool proof_wanted = false;
    unsigned proofs = 0;
    TimePoint proof_again_at = never;
    TimePoint watch_at = never;
  } hold;
  // There is a watch on its own node, or will be at once.
  bool node_watched = false;

  // The rank, i.e. its node's prefix, which decides its place and its proofs; unlike its class, AcquireSpec::priority.
  // It changes only with the node.
  Priority rank = Priority::foreground;
  struct {
    // The rank that it should have; differs from `rank` if it is to move.
    Priority wanted_rank = Priority::foreground;
    // The server has refused a move that its caller, or a contender waiting for its caller, needs: it must be requested
    // again.
    bool refused = false;
    // The rank for which its node is being replaced, also while the outcome of that is resolved.
    std::optional<Priority> to;
    TimePoint at = never;  // when it is looked at again whether it is to move
  } moving;

  std::string node;  // name of the own node once known
  // The version of that node's data that was looked at last, and when. Its process never changes them.
  struct {
    std::int32_t version = 0;
    TimePoint read{};
  } record;
  std::int64_t number = 0;
  // The monitor's count when its node was sent: the node's number is not lower.
  MonitorCount created_after;
  TimePoint waiting_since = never;
  // Its first place in the queue that was known, and since when; `never` if it is not to be measured.
  struct {
    std::size_t place = 0;
    TimePoint since = never;
  } measured;
  Duration disconnected_before{0};  // of the engine's time without a connection, what was over when it came
  Token token = 0;
  coordination::RequestTag claim = 0;  // the request that creates its node and privateLock together
  coordination::RequestTag proof = 0;  // the look that is to prove its rank
  std::optional<QueuePosition> position;
  // As a holder: the priorities of which it has been told that contenders wait behind it.
  base::PerPriority<bool> told_waiting;

  // A move that the table in lock/contender_state.h does not know is a bug of the protocol: it ends the process in
  // builds with assertions.
  void move_to(ContenderState to);

  // No other contender can overtake it once it is in the queue.
  bool most_urgent() const { return rank == all_priorities.front(); }
  // Of a node that it makes anew.
  Priority first_rank() const { return spec.rank.value_or(spec.priority); }
};

}  // namespace forelock::lock
