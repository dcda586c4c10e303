// Additions to plans, made after many of them were known by their seeds.
#pragma once

#include "plan.h"

namespace forelock::simulation {

// Each addition is in some of the schedules and draws from numbers of its own: the other ones stay what they were.
void add_from_own_numbers(Plan& plan);

}  // namespace forelock::simulation
