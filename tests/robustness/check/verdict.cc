#include "robustness/check/verdict.h"

#include <nlohmann/json.hpp>

namespace forelock::robustness {
namespace {

using Named = std::pair<const char*, const Findings*>;

std::vector<Named> parts_of(const Verdict& verdict) {
  return {{"accesses of the resource", &verdict.accesses},
          {"holders' certainty", &verdict.certainty},
          {"tokens", &verdict.tokens},
          {"locks taken again", &verdict.again},
          {"foreground first", &verdict.line.priority},
          {"first come, first served", &verdict.line.fifo},
          {"owners of privateLock", &verdict.line.owners},
          {"servers' log", &verdict.log},
          {"calls in time", &verdict.waits},
          {"nothing left", &verdict.left},
          {"dead letters", &verdict.letters},
          {"stall rounds", &verdict.stalls.findings},
          {"depositions", &verdict.depositions.findings},
          {"flat use", &verdict.use.findings}};
}

nlohmann::ordered_json milliseconds_of(const std::optional<Span>& margin) {
  if (!margin) return nullptr;
  return std::chrono::duration<double, std::milli>(*margin).count();
}

}  // namespace

Verdict judge(const History& history, const Bounds& bounds) {
  Verdict verdict;
  for (const Call& call : history.calls) verdict.acquisitions += call.granted != never ? 1u : 0u;
  std::set<std::string> kinds;
  for (const Fault& fault : history.faults) kinds.insert(fault.kind);
  verdict.faults = history.faults.size();
  verdict.fault_kinds = kinds.size();
  verdict.accesses = exclusive_accesses(history);
  verdict.certainty = exclusive_certainty(history);
  verdict.tokens = rising_tokens(history);
  verdict.again = taken_again(history);
  verdict.line = just_grants(history);
  verdict.log = consistent_log(history);
  verdict.waits = bounded_waits(history, bounds);
  verdict.left = nothing_left(history);
  verdict.letters = kept_letters(history);
  verdict.stalls = stall_margins(history);
  verdict.depositions = deposition_margins(history);
  verdict.use = flat_use(history);
  verdict.by_kind = exposure(history);
  for (const auto& [id, letter] : history.letters) verdict.dead_letters += letter.accepted ? 1u : 0u;
  return verdict;
}

bool Verdict::clean() const {
  for (const auto& [name, findings] : parts_of(*this)) {
    if (findings->violations > 0) return false;
  }
  return true;
}

std::string Verdict::json() const {
  nlohmann::ordered_json counts;
  counts["acquisitions"] = acquisitions;
  counts["faults"] = faults;
  counts["fault_kinds"] = fault_kinds;
  counts["overlaps"] = accesses.violations;
  counts["orphans"] = left.violations;
  counts["priority_violations"] = line.priority.violations;
  counts["late_calls"] = waits.violations;
  counts["lost_operations"] = letters.violations;
  counts["min_stall_margin_ms"] = milliseconds_of(stalls.margin);
  counts["min_deposition_margin_ms"] = milliseconds_of(depositions.margin);
  counts["certainty_overlaps"] = certainty.violations;
  counts["token_violations"] = tokens.violations;
  counts["taken_again_violations"] = again.violations;
  counts["fifo_violations"] = line.fifo.violations;
  counts["owner_violations"] = line.owners.violations;
  counts["taken_again"] = again.judged;
  counts["stall_rounds"] = stalls.findings.judged;
  counts["depositions"] = depositions.findings.judged;
  counts["grants_judged"] = line.priority.judged;
  counts["grants_undecided"] = line.priority.undecided;
  counts["unfenced_overlaps"] = accesses.undecided;
  counts["server_losses"] = log.violations;
  counts["growing"] = use.findings.violations;
  counts["operations"] = letters.judged;
  counts["dead_letters"] = dead_letters;
  for (const auto& [name, findings] : parts_of(*this)) {
    counts["checks"][name] = {
        {"judged", findings->judged}, {"undecided", findings->undecided}, {"violations", findings->violations}};
  }
  for (const auto& [kind, exposed] : by_kind) {
    counts["by_kind"][kind] = {{"faults", exposed.faults}, {"calls", exposed.calls}, {"accesses", exposed.accesses}};
  }
  for (const auto& each : use.uses) counts["use"][each.who][each.what] = {each.first, each.last};
  return counts.dump();
}

void Verdict::explain(std::ostream& out) const {
  for (const auto& [name, findings] : parts_of(*this)) {
    out << name << ": " << findings->judged << " judged, " << findings->undecided << " undecided, "
        << findings->violations << " violations\n";
    for (const std::string& explanation : findings->explanations) out << "  " << explanation << '\n';
    if (findings->violations > findings->explanations.size()) {
      out << "  and " << findings->violations - findings->explanations.size() << " more\n";
    }
  }
}

}  // namespace forelock::robustness
