#include "lock/mutation.h"

namespace forelock::lock {

Mutation& active_mutation() {
  static thread_local Mutation mutation = Mutation::none;
  return mutation;
}

}  // namespace forelock::lock
