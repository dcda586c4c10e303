#include "retry/mutation.h"

namespace forelock::retry {

Mutation& active_mutation() {
  static thread_local Mutation mutation = Mutation::none;
  return mutation;
}

}  // namespace forelock::retry
