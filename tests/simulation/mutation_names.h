// The deliberate bugs of lock/mutation.h and retry/mutation.h, by name.
#pragma once

#include <optional>
#include <string_view>

#include "lock/mutation.h"
#include "retry/mutation.h"

namespace forelock::simulation {

std::string_view name_of(lock::Mutation mutation);
std::string_view name_of(retry::Mutation mutation);
std::optional<lock::Mutation> lock_mutation_named(std::string_view name);
std::optional<retry::Mutation> retry_mutation_named(std::string_view name);

}  // namespace forelock::simulation
