// The deliberate bug of lock/mutation.h or retry/mutation.h that has this name; nothing if there is none.
#pragma once

#include "support/standard.h"

namespace forelock::simulation {

template <class Mutation>
std::optional<Mutation> mutation_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(Mutation::count_); ++i) {
    const auto mutation = static_cast<Mutation>(i);
    if (name_of(mutation) == name) return mutation;
  }
  return std::nullopt;
}

}  // namespace forelock::simulation
