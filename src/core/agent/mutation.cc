#include "agent/mutation.h"

namespace forelock::agent {

Mutation& active_mutation() {
  static thread_local Mutation mutation = Mutation::none;
  return mutation;
}

}  // namespace forelock::agent
