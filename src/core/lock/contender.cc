#include "lock/contender.h"

#include <cassert>

#include "lock/mutation.h"

namespace forelock::lock {

void Contender::move_to(ContenderState to) {
  // Deliberate bugs make moves of their own, which the simulator is to judge by what follows from them.
  assert(may_move(state, to, abandoned) || any_mutation());
  state = to;
}

}  // namespace forelock::lock
