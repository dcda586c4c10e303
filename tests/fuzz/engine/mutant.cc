// The deliberate bug of lock/mutation.h that FORELOCK_MUTATION names, in a target that has them all.
#include "lock/mutation.h"

#include "mutation_named.h"

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  return forelock::simulation::mutation_of_environment_is_known(forelock::lock::all_mutations) ? 0 : 1;
}
