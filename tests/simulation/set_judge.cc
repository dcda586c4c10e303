#include "set_judge.h"

namespace forelock::simulation {

void SetJudge::asked(std::uint64_t set, std::uint64_t contender, bool waits) {
  Set& one = sets_[set];
  if (std::find(one.contenders.begin(), one.contenders.end(), contender) == one.contenders.end()) {
    one.contenders.push_back(contender);
  }
  if (waits) one.waiting.push_back(contender);
}

void SetJudge::kept(std::uint64_t set, std::uint64_t contender, bool section_ended) {
  if (!section_ended) {
    checker_.fail(Invariant::all_or_nothing, "set " + std::to_string(set) + " has not been held, but its contender " +
                                                 std::to_string(contender) + " stays with the process");
  }
  std::erase(sets_[set].contenders, contender);
  std::erase(sets_[set].waiting, contender);
}

void SetJudge::held(std::uint64_t set, const std::vector<std::uint64_t>& members) {
  for (const std::uint64_t id : members) {
    if (id != 0 && checker_.at(id).phase == Phase::held) continue;
    return checker_.fail(
        Invariant::all_or_nothing,
        "set " + std::to_string(set) + " counts as held, but its contender " + std::to_string(id) + " does not hold");
  }
  // News may be on their way of what was taken away since the set last asked, but not of what was gone before.
  Instant asked{};
  for (const std::uint64_t id : sets_[set].waiting) asked = std::max(asked, checker_.at(id).granted_at);
  for (const std::uint64_t id : members) {
    const Contender& one = checker_.at(id);
    const bool taken_away = (one.robbed || one.deleted_by_hand) && one.robbed_at >= one.granted_at;
    if (!taken_away || one.robbed_at >= asked || checker_.undecidable(one.monitor)) continue;
    return checker_.fail(Invariant::all_or_nothing, "set " + std::to_string(set) +
                                                        " counts as held, but its contender " + std::to_string(id) +
                                                        " was removed while the set waited for another one");
  }
}

bool SetJudge::keeps_while_it_waits(std::uint64_t contender) const {
  if (checker_.at(contender).phase != Phase::held) return false;
  return std::any_of(sets_.begin(), sets_.end(), [&](const auto& entry) {
    const Set& set = entry.second;
    const auto waits = [this](std::uint64_t id) { return checker_.at(id).phase == Phase::waiting; };
    return std::find(set.contenders.begin(), set.contenders.end(), contender) != set.contenders.end() &&
           std::any_of(set.waiting.begin(), set.waiting.end(), waits);
  });
}

void SetJudge::ended(std::uint64_t set) {
  for (const std::uint64_t id : sets_[set].contenders) {
    if (checker_.at(id).phase == Phase::done) continue;
    return checker_.fail(Invariant::all_or_nothing,
                         "set " + std::to_string(set) + " has ended, but not its contender " + std::to_string(id));
  }
  sets_.erase(set);
}

std::uint64_t SetJudge::set_that_holds(std::size_t monitor) const {
  for (const auto& [id, set] : sets_) {
    for (const std::uint64_t contender : set.contenders) {
      const Contender& one = checker_.at(contender);
      if (one.monitor == monitor && one.phase == Phase::held) return id;
    }
  }
  return 0;
}

bool SetJudge::leads_back(std::uint64_t from, std::uint64_t to, std::size_t steps) const {
  if (steps == 0) return false;
  for (const std::uint64_t contender : sets_.at(from).waiting) {
    const Contender& one = checker_.at(contender);
    if (one.phase != Phase::waiting) continue;
    const std::uint64_t next = set_that_holds(one.monitor);
    if (next == 0) continue;
    if (next == to || leads_back(next, to, steps - 1)) return true;
  }
  return false;
}

void SetJudge::check_waits() {
  for (const auto& [id, set] : sets_) {
    if (!set.waiting.empty() && leads_back(id, id, sets_.size())) {
      return checker_.fail(Invariant::no_cycle, "set " + std::to_string(id) + " waits for itself through others");
    }
  }
}

}  // namespace forelock::simulation
