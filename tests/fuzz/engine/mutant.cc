// Switches on the deliberate bug of lock/mutation.h that FORELOCK_MUTATION names, in a target that has them all.
#include "lock/mutation.h"

#include "mutation_named.h"

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* const name = std::getenv("FORELOCK_MUTATION");
  const auto mutation = forelock::simulation::mutation_named<forelock::lock::Mutation>(name == nullptr ? "none" : name);
  if (!mutation) {
    std::cerr << "FORELOCK_MUTATION: there is no mutation " << name << std::endl;
    std::_Exit(EXIT_FAILURE);
  }
  forelock::lock::active_mutation() = *mutation;  // of this thread, which is the one that runs the inputs
  return 0;
}
