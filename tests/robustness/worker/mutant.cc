// A worker whose protocol has one of the deliberate bugs of lock/mutation.h, for the proof that a run would show it.
#include <cstdlib>
#include <iostream>

#include "lock/mutation.h"
#include "mutation_named.h"

namespace forelock::lock {
namespace {

Mutation from_environment() {
  const char* const name = std::getenv("FORELOCK_MUTATION");
  const auto mutation = simulation::mutation_named<Mutation>(name == nullptr ? "none" : name);
  if (mutation) return *mutation;
  std::cerr << "FORELOCK_MUTATION: there is no mutation " << name << std::endl;
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

// In the simulator a mutation belongs to a thread; here to the process.
Mutation& active_mutation() {
  static Mutation mutation = from_environment();
  return mutation;
}

}  // namespace forelock::lock
