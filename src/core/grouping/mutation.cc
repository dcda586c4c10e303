#include "grouping/mutation.h"

namespace forelock::grouping {

Mutation& active_mutation() {
  static thread_local Mutation mutation = Mutation::none;
  return mutation;
}

}  // namespace forelock::grouping
