// Deliberate protocol bugs, for the proof that the simulator would notice them. They exist only in the test-only build
// of this room (FORELOCK_MUTATION_BUILD); in every other build mutated() is a constant false and leaves no trace.
#pragma once

namespace forelock::lock {

enum class Mutation {
  none,
  no_yield,                           // a grant stands although somebody ranks before it
  release_order_swapped,              // release is two requests, privateLock first
  late_release_blind,                 // release deletes privateLock unconditionally, outside a transaction
  adopt_without_session_check,        // adoption looks at the guid alone
  adopt_without_guid_check,           // adoption takes any node of our session
  deadline_from_receive_time,         // session deadline counted from the reply's arrival
  deadline_without_reports,           // the leader is believed to hear of a session with every request of it
  no_deadline,                        // a silent session is trusted for ever
  grant_after_deadline,               // a grant proved late counts although the deadline has passed
  watch_not_rechecked,                // after a watch event the old listing is used
  hand_over_unproved,                 // in-process hand-over of background work without a listing
  claim_unproved,                     // background claim without a listing in the same breath
  number_proof_across_reconnect,      // the remembered count survives a disconnection
  number_proof_across_recreation,     // the remembered count survives the monitor's re-creation
  others_not_counted,                 // the count of children behind the first claim is not looked at
  count_taken_late,                   // nor whether it is of the moment of the claim
  number_off_by_one,                  // privateLock's own create is forgotten in the count
  no_cleanup_after_timeout,           // a contender that timed out leaves its node
  cleanup_gives_up,                   // a delete whose reply is lost is not repeated
  unknown_create_retried,             // a create whose reply is lost is simply sent again
  unknown_claim_assumed_granted,      // a claim whose reply is lost counts as a grant
  unknown_release_assumed_done,       // a release whose reply is lost counts as done
  own_node_not_checked,               // a claim does not check that the own node still exists
  priority_ignored,                   // order by sequence number alone
  lifo_within_class,                  // later contenders of a class first
  no_resync_before_resolving,         // resolving lists a lagging follower without sync
  expired_holder_keeps_lock,          // expiry does not tell holders
  removed_holder_not_noticed,         // privateLock is never watched
  timeout_ignored_when_disconnected,  // deadlines rest while there is no connection
  no_relist_after_failed_claim,       // a claim that lost the race sets no new watch
  vanished_neighbour_proves,          // whose predecessor is gone counts as the first, whoever went before that
  count_
};

#ifdef FORELOCK_MUTATION_BUILD
// The bug that is switched on in this thread.
Mutation& active_mutation();
inline bool mutated(Mutation mutation) {
  return active_mutation() == mutation;
}
#else
constexpr bool mutated(Mutation) {
  return false;
}
#endif

}  // namespace forelock::lock
