#include "lock/contender.h"

#include <cassert>

#include "lock/mutation.h"

namespace forelock::lock {

void Contender::move_to(ContenderState to) {
  // Deliberate bugs make moves of their own, which the simulator is to judge by what follows from them.
  assert(any_mutation() || may_move(state, to, abandoned));
  state = to;
}

}  // namespace forelock::lock
