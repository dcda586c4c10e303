// The deliberate bugs of lock/mutation.h, by name.
#pragma once

#include <optional>
#include <string_view>

#include "lock/mutation.h"

namespace forelock::simulation {

std::string_view name_of(lock::Mutation mutation);
std::optional<lock::Mutation> mutation_named(std::string_view name);

}  // namespace forelock::simulation
