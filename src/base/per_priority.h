// A PerPriority holds one value for each priority.
#pragma once

#include <array>
#include <cstddef>

#include "forelock/priority.h"

namespace forelock::base {

template <class Value>
struct PerPriority {
  std::array<Value, all_priorities.size()> values{};

  Value& operator[](Priority priority) { return values[static_cast<std::size_t>(priority)]; }
  const Value& operator[](Priority priority) const { return values[static_cast<std::size_t>(priority)]; }
};

}  // namespace forelock::base
