// The deliberate bugs of a room, for the proof that the simulator would notice them. They exist only in the room's
// test-only build (FORELOCK_MUTATION_BUILD); in every other build mutated() is a constant false and leaves no trace.
#pragma once

#include <string_view>

#define FORELOCK_MUTATION_ENUMERATOR(name, text) name,
#define FORELOCK_MUTATION_NAME(name, text) \
  if (mutation == Mutation::name) return #name;

#ifdef FORELOCK_MUTATION_BUILD
// active_mutation() is the one that is switched on in this thread: defined in the room's mutation.cc.
#define FORELOCK_MUTATION_SWITCH         \
  Mutation& active_mutation();           \
  inline bool mutated(Mutation mutation) { \
    return active_mutation() == mutation;  \
  }
#else
#define FORELOCK_MUTATION_SWITCH    \
  constexpr bool mutated(Mutation) { \
    return false;                    \
  }
#endif

// In the room's namespace. `list` calls its argument with the name of each bug and with what it does.
#define FORELOCK_MUTATIONS(list)                                          \
  enum class Mutation { none, list(FORELOCK_MUTATION_ENUMERATOR) count_ }; \
  constexpr std::string_view name_of(Mutation mutation) {                  \
    list(FORELOCK_MUTATION_NAME) return "none";                            \
  }                                                                        \
  FORELOCK_MUTATION_SWITCH
