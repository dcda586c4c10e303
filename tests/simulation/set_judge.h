// A SetJudge judges calls for several monitors: that they never wait for each other in a circle, and that each is held
// as a whole or not at all.
#pragma once

#include "checker.h"

namespace forelock::simulation {

class SetJudge {
 public:
  explicit SetJudge(Checker& checker) : checker_(checker) {}

  std::uint64_t begun() { return ++last_; }
  // A contender of this set; `waits`: it may stand in the queue.
  void asked(std::uint64_t set, std::uint64_t contender, bool waits);
  // A member that has been given back and is kept by the process: only after a section.
  void kept(std::uint64_t set, std::uint64_t contender, bool section_ended);
  // Its caller is told that all of it is held.
  void held(std::uint64_t set, const std::vector<std::uint64_t>& members);
  // Its caller is told that nothing of it is.
  void ended(std::uint64_t set);

  // Whether it is a member of a set that waits for another one.
  bool keeps_while_it_waits(std::uint64_t contender) const;

  // Who waits for whom, at this moment.
  void check_waits();

 private:
  struct Set {
    std::vector<std::uint64_t> contenders;
    std::vector<std::uint64_t> waiting;
  };

  std::uint64_t set_that_holds(std::size_t monitor) const;
  bool leads_back(std::uint64_t from, std::uint64_t to, std::size_t steps) const;

  Checker& checker_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Set> sets_;  // that have not ended
};

}  // namespace forelock::simulation
