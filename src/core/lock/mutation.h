// The deliberate bugs of the protocol.
#pragma once

#include "base/mutation.h"

namespace forelock::lock {

// Each bug once: its name, and what it does.
// clang-format off
#define FORELOCK_LOCK_MUTATIONS(each) \
  each(no_yield, "a grant stands although another contender ranks before it") \
  each(release_order_swapped, "release is two requests, privateLock first") \
  each(late_release_blind, "release deletes privateLock unconditionally, outside a transaction") \
  each(adopt_without_session_check, "adoption looks at the guid alone") \
  each(adopt_without_guid_check, "adoption takes any node of our session") \
  each(deadline_from_receive_time, "session deadline counted from the reply's arrival") \
  each(deadline_without_reports, "the leader is believed to hear of a session with every request of it") \
  each(sync_proves, "a sync that was answered counts as a write") \
  each(reconnect_proves, "a server that has accepted the session again proves that it lives") \
  each(read_proves, "a read that was answered counts as a write") \
  each(no_deadline, "a silent session is trusted for ever") \
  each(grant_after_deadline, "a grant proved late counts although the deadline has passed") \
  each(watch_not_rechecked, "after a watch event the old listing is used") \
  each(hand_over_unproved, "in-process hand-over of background work without a listing") \
  each(claim_unproved, "background claim without a listing in the same breath") \
  each(number_proof_across_reconnect, "the remembered count survives a disconnection") \
  each(number_proof_across_recreation, "the remembered count survives the monitor's re-creation") \
  each(others_not_counted, "the count of children behind the first claim is not looked at") \
  each(count_kept_behind_others, "the count goes on from a listing that shows other processes' contenders") \
  each(count_taken_late, "nor whether it is of the moment of the claim") \
  each(number_off_by_one, "privateLock's own create is forgotten in the count") \
  each(no_cleanup_after_timeout, "a contender that timed out leaves its node") \
  each(cleanup_gives_up, "a delete whose reply is lost is not repeated") \
  each(unknown_create_retried, "a create whose reply is lost is simply sent again") \
  each(unknown_claim_assumed_granted, "a claim whose reply is lost counts as a grant") \
  each(unknown_release_assumed_done, "a release whose reply is lost counts as done") \
  each(own_node_not_checked, "a claim does not check that the own node still exists") \
  each(priority_ignored, "order by sequence number alone") \
  each(lifo_within_class, "later contenders of a class first") \
  each(no_resync_before_resolving, "resolving lists a lagging follower without sync") \
  each(expired_holder_keeps_lock, "expiry does not tell holders") \
  each(removed_holder_not_noticed, "privateLock is never watched") \
  each(timeout_ignored_when_disconnected, "deadlines rest while there is no connection") \
  each(no_relist_after_failed_claim, "a claim that lost the race sets no new watch") \
  each(vanished_neighbour_proves, "a contender whose predecessor is gone counts as the first, unproved") \
  each(late_grant_unasked, "a grant that has waited for the session's proof is told without asking whether it stands") \
  each(outranked_claims_again, "a single attempt that ranks behind others claims again without a look") \
  each(all_age_at_once, "a background contender ages however many of its class are before it") \
  each(aged_by_old_listing, "nor is it asked whether they still are") \
  each(claims_end_ageing, "a background contender that has to give the lock back begins its time anew") \
  each(move_leaves_node, "a move leaves the former node") \
  each(move_forgotten, "a move whose reply is lost is looked for in the former queue alone") \
  each(moved_stays_clear, "a contender that has moved keeps the proof that nobody goes before its former place") \
  each(moved_keeps_number, "and the number of the node that it had there") \
  each(record_told_again, "what others wish is told at each look") \
  each(unused_left, "an unused monitor is never removed") \
  each(removed_unread, "after an outage an unused monitor is removed without a look at what is there by then") \
  each(removed_at_any_version, "so is one whose lock was removed by force") \
  each(others_removed, "a monitor that another client has made is removed when it is unused") \
  each(refusal_of_one_forgets_all, "a removal that is refused for one of its monitors is not repeated for the others")
// clang-format on

FORELOCK_MUTATIONS(FORELOCK_LOCK_MUTATIONS)

// Whether one is switched on: some checks of the code's own would notice it at once.
#ifdef FORELOCK_MUTATION_BUILD
inline bool any_mutation() {
  return std::any_of(std::begin(all_mutations), std::end(all_mutations), &mutated);
}
#else
constexpr bool any_mutation() {
  return false;
}
#endif

}  // namespace forelock::lock
