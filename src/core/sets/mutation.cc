#include "sets/mutation.h"

namespace forelock::sets {

Mutation& active_mutation() {
  static thread_local Mutation mutation = Mutation::none;
  return mutation;
}

}  // namespace forelock::sets
