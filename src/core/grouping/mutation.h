// The deliberate bugs of grouping.
#pragma once

#include "base/mutation.h"

namespace forelock::grouping {

// Each bug once: its name, and what it does.
// clang-format off
#define FORELOCK_GROUPING_MUTATIONS(each) \
  each(order_not_kept, "a request overtakes a transaction of the same monitor that is held back") \
  each(order_not_kept_after_group, "a request of a monitor does not wait for the monitor's group to be answered") \
  each(failed_member_lost, "the last member of a failed group is not sent again and never answered") \
  each(failed_told_to_all, "the members of a failed group are told its failure, though only one has caused it") \
  each(failed_told_applied, "the members of a failed group are told that they were applied") \
  each(loss_sent_again, "the members of a group whose answer was lost are sent again") \
  each(told_twice, "the first member of a group is answered twice") \
  each(results_shifted, "each member of a group gets the results of the one before it") \
  each(no_room_after_group, "the answer to a group makes no room for what is held back") \
  each(followers_forgotten, "what waits for a group to be answered is not sent then") \
  each(held_back_over_loss, "what was held back when the connection was lost is sent over the next one") \
  each(withdrawn_is_sent, "a transaction that was withdrawn is sent nevertheless") \
  each(refused_told_applied, "the member that a group was refused for is told that it was applied") \
  each(folded_version_wrong, "a node that was created with its data is told to have the version of a write") \
  each(number_of_group_lost, "no member of a group keeps the write by which the group's number is known") \
  each(limit_off_by_one, "a group may have one operation more than its limit")
// clang-format on

FORELOCK_MUTATIONS(FORELOCK_GROUPING_MUTATIONS)

}  // namespace forelock::grouping
