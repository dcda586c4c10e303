// The deliberate bugs of a room, for the proof that the simulator would notice them. They exist only in the room's
// test-only build (FORELOCK_MUTATION_BUILD); in every other build mutated() is a constant false and leaves no trace.
#pragma once

#include <string_view>

#ifdef FORELOCK_MUTATION_BUILD
#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace forelock::base {

// The one that is switched on in this thread, by its name: no two rooms have one of the same. At first that which the
// environment names as FORELOCK_MUTATION; empty: none.
inline std::string_view& active_mutation() {
  static thread_local std::string_view mutation = [] {
    const char* const named = std::getenv("FORELOCK_MUTATION");
    return std::string_view(named == nullptr ? "" : named);
  }();
  return mutation;
}

}  // namespace forelock::base

#define FORELOCK_MUTATION_SWITCH                   \
  inline bool mutated(std::string_view mutation) { \
    return base::active_mutation() == mutation;    \
  }
#else
#define FORELOCK_MUTATION_SWITCH             \
  constexpr bool mutated(std::string_view) { \
    return false;                            \
  }
#endif

#define FORELOCK_MUTATION_CONSTANT(name, text) static constexpr std::string_view name = #name;
#define FORELOCK_MUTATION_ITEM(name, text) #name,

// In the room's namespace. `list` calls its argument with the name of each bug and with what it does.
#define FORELOCK_MUTATIONS(list)                                                      \
  struct Mutation {                                                                   \
    list(FORELOCK_MUTATION_CONSTANT)                                                  \
  };                                                                                  \
  inline constexpr std::string_view all_mutations[] = {list(FORELOCK_MUTATION_ITEM)}; \
  FORELOCK_MUTATION_SWITCH
