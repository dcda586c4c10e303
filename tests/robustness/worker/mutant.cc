// A worker with one of the deliberate bugs of lock/mutation.h or linger/mutation.h, for the proof that a run would show
// it. In the simulator a mutation belongs to a thread; here, from the environment, to all of them.
#include "linger/mutation.h"
#include "lock/mutation.h"
#include "mutation_named.h"

namespace forelock {
namespace {

[[maybe_unused]] const bool known =
    simulation::mutation_of_environment_is_known(lock::all_mutations, linger::all_mutations);

}  // namespace
}  // namespace forelock
