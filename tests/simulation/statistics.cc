#include "statistics.h"

namespace forelock::simulation {

void Statistics::add(const Statistics& other) {
  schedules += other.schedules;
  steps += other.steps;
  acquisitions += other.acquisitions;
  grants += other.grants;
  refusals += other.refusals;
  not_admitted += other.not_admitted;
  losses += other.losses;
  releases += other.releases;
  hand_overs += other.hand_overs;
  yields += other.yields;
  step_asides += other.step_asides;
  aged += other.aged;
  inherited += other.inherited;
  changed_class += other.changed_class;
  wishes_obeyed += other.wishes_obeyed;
  number_proofs += other.number_proofs;
  literal_grants += other.literal_grants;
  renewed_monitors += other.renewed_monitors;
  forgotten_watches += other.forgotten_watches;
  guarded_writes += other.guarded_writes;
  guarded_writes_refused += other.guarded_writes_refused;
  expired_sessions += other.expired_sessions;
  operations += other.operations;
  operations_succeeded += other.operations_succeeded;
  operations_dead_lettered += other.operations_dead_lettered;
  operations_left += other.operations_left;
  operations_abandoned += other.operations_abandoned;
  retries += other.retries;
  sets_held += other.sets_held;
  sets_refused += other.sets_refused;
  sets_lost += other.sets_lost;
  set_waits += other.set_waits;
  set_gave_way += other.set_gave_way;
  set_knocks += other.set_knocks;
  lingered += other.lingered;
  taken_again += other.taken_again;
  groups += other.groups;
  groups_failed += other.groups_failed;
  withdrawn += other.withdrawn;
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += other.faults[i];
}

std::string Statistics::json(double seconds, std::uint64_t failures) const {
  std::ostringstream out;
  out << "{\"schedules\": " << schedules << ", \"acquisitions\": " << acquisitions << ", \"grants\": " << grants
      << ", \"refusals\": " << refusals << ", \"not_admitted\": " << not_admitted << ", \"losses\": " << losses
      << ", \"releases\": " << releases << ", \"hand_overs\": " << hand_overs << ", \"yields\": " << yields
      << ", \"step_asides\": " << step_asides << ", \"aged\": " << aged << ", \"changed_class\": " << changed_class
      << ", \"inherited\": " << inherited << ", \"wishes_obeyed\": " << wishes_obeyed
      << ", \"number_proofs\": " << number_proofs << ", \"literal_grants\": " << literal_grants
      << ", \"renewed_monitors\": " << renewed_monitors << ", \"forgotten_watches\": " << forgotten_watches
      << ", \"guarded_writes\": " << guarded_writes << ", \"guarded_writes_refused\": " << guarded_writes_refused
      << ", \"expired_sessions\": " << expired_sessions << ", \"operations\": " << operations
      << ", \"operations_succeeded\": " << operations_succeeded
      << ", \"operations_dead_lettered\": " << operations_dead_lettered << ", \"operations_left\": " << operations_left
      << ", \"operations_abandoned\": " << operations_abandoned << ", \"retries\": " << retries
      << ", \"sets_held\": " << sets_held << ", \"sets_refused\": " << sets_refused << ", \"sets_lost\": " << sets_lost
      << ", \"set_waits\": " << set_waits << ", \"set_gave_way\": " << set_gave_way
      << ", \"set_knocks\": " << set_knocks << ", \"lingered\": " << lingered << ", \"taken_again\": " << taken_again
      << ", \"groups\": " << groups << ", \"groups_failed\": " << groups_failed << ", \"withdrawn\": " << withdrawn
      << ", \"steps\": " << steps << ", \"faults\": {";
  for (std::size_t i = 0; i < faults.size(); ++i) {
    out << (i == 0 ? "\"" : ", \"") << name_of(static_cast<FaultKind>(i)) << "\": " << faults[i];
  }
  out << "}, \"seconds\": " << seconds << ", \"failures\": " << failures << "}";
  return out.str();
}

}  // namespace forelock::simulation
