// The deliberate bug that the environment names, for programs that have such bugs compiled in.
#pragma once

#include "base/mutation.h"
#include "support/standard.h"

namespace forelock::simulation {

// The bugs of these rooms are all_mutations of each. Ends the program if FORELOCK_MUTATION is none of them.
template <class... Rooms>
bool mutation_of_environment_is_known(const Rooms&... rooms) {
  const std::string_view name = base::active_mutation();
  const auto is_in = [name](const auto& all) {
    return std::find(std::begin(all), std::end(all), name) != std::end(all);
  };
  if (name.empty() || (is_in(rooms) || ...)) return true;
  std::cerr << "FORELOCK_MUTATION: there is no mutation " << name << std::endl;
  std::_Exit(EXIT_FAILURE);
}

}  // namespace forelock::simulation
