#include "linger/mutation.h"

namespace forelock::linger {

Mutation& active_mutation() {
  static thread_local Mutation mutation = Mutation::none;
  return mutation;
}

}  // namespace forelock::linger
