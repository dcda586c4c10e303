// A worker with one of the deliberate bugs of lock/mutation.h or linger/mutation.h, for the proof that a run would show
// it.
#include "linger/mutation.h"
#include "lock/mutation.h"
#include "mutation_named.h"

namespace forelock {
namespace {

// That of the environment, if it is one of these; the other room has it otherwise.
template <typename Mutation, typename Other>
Mutation from_environment() {
  const char* const variable = std::getenv("FORELOCK_MUTATION");
  const std::string name = variable == nullptr ? "none" : variable;
  if (const auto mutation = simulation::mutation_named<Mutation>(name)) return *mutation;
  if (simulation::mutation_named<Other>(name)) return Mutation::none;
  std::cerr << "FORELOCK_MUTATION: there is no mutation " << name << std::endl;
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

// In the simulator a mutation belongs to a thread; here to the process.

lock::Mutation& lock::active_mutation() {
  static Mutation mutation = from_environment<lock::Mutation, linger::Mutation>();
  return mutation;
}

linger::Mutation& linger::active_mutation() {
  static Mutation mutation = from_environment<linger::Mutation, lock::Mutation>();
  return mutation;
}

}  // namespace forelock
