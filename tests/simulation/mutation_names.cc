#include "mutation_names.h"

namespace forelock::simulation {

using lock::Mutation;

std::string_view name_of(Mutation mutation) {
  switch (mutation) {
    case Mutation::none:
      return "none";
    case Mutation::no_yield:
      return "no_yield";
    case Mutation::release_order_swapped:
      return "release_order_swapped";
    case Mutation::late_release_blind:
      return "late_release_blind";
    case Mutation::adopt_without_session_check:
      return "adopt_without_session_check";
    case Mutation::adopt_without_guid_check:
      return "adopt_without_guid_check";
    case Mutation::deadline_from_receive_time:
      return "deadline_from_receive_time";
    case Mutation::deadline_without_reports:
      return "deadline_without_reports";
    case Mutation::no_deadline:
      return "no_deadline";
    case Mutation::grant_after_deadline:
      return "grant_after_deadline";
    case Mutation::watch_not_rechecked:
      return "watch_not_rechecked";
    case Mutation::hand_over_unproved:
      return "hand_over_unproved";
    case Mutation::claim_unproved:
      return "claim_unproved";
    case Mutation::number_proof_across_reconnect:
      return "number_proof_across_reconnect";
    case Mutation::number_proof_across_recreation:
      return "number_proof_across_recreation";
    case Mutation::others_not_counted:
      return "others_not_counted";
    case Mutation::count_taken_late:
      return "count_taken_late";
    case Mutation::number_off_by_one:
      return "number_off_by_one";
    case Mutation::no_cleanup_after_timeout:
      return "no_cleanup_after_timeout";
    case Mutation::cleanup_gives_up:
      return "cleanup_gives_up";
    case Mutation::unknown_create_retried:
      return "unknown_create_retried";
    case Mutation::unknown_claim_assumed_granted:
      return "unknown_claim_assumed_granted";
    case Mutation::unknown_release_assumed_done:
      return "unknown_release_assumed_done";
    case Mutation::own_node_not_checked:
      return "own_node_not_checked";
    case Mutation::priority_ignored:
      return "priority_ignored";
    case Mutation::lifo_within_class:
      return "lifo_within_class";
    case Mutation::no_resync_before_resolving:
      return "no_resync_before_resolving";
    case Mutation::expired_holder_keeps_lock:
      return "expired_holder_keeps_lock";
    case Mutation::removed_holder_not_noticed:
      return "removed_holder_not_noticed";
    case Mutation::timeout_ignored_when_disconnected:
      return "timeout_ignored_when_disconnected";
    case Mutation::no_relist_after_failed_claim:
      return "no_relist_after_failed_claim";
    case Mutation::vanished_neighbour_proves:
      return "vanished_neighbour_proves";
    case Mutation::count_:
      break;
  }
  return "?";
}

std::string_view name_of(retry::Mutation mutation) {
  switch (mutation) {
    case retry::Mutation::none:
      return "none";
    case retry::Mutation::refused_letter_forgotten:
      return "refused_letter_forgotten";
    case retry::Mutation::withdrawn_while_given_up:
      return "withdrawn_while_given_up";
    case retry::Mutation::uncertain_success_counts:
      return "uncertain_success_counts";
    case retry::Mutation::deadline_ignored:
      return "deadline_ignored";
    case retry::Mutation::one_retry_too_many:
      return "one_retry_too_many";
    case retry::Mutation::count_:
      break;
  }
  return "?";
}

namespace {

template <class Kind>
std::optional<Kind> named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(Kind::count_); ++i) {
    if (name_of(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<lock::Mutation> lock_mutation_named(std::string_view name) {
  return named<lock::Mutation>(name);
}
std::optional<retry::Mutation> retry_mutation_named(std::string_view name) {
  return named<retry::Mutation>(name);
}

}  // namespace forelock::simulation
