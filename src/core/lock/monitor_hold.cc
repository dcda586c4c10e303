// Whether a lock that is held, or is about to be, still is: the servers are asked.
#include <utility>

#include "lock/engine.h"
#include "lock/limits.h"
#include "lock/monitor.h"

namespace forelock::lock {

using coordination::Check;
using coordination::Reply;
using coordination::ReplyCode;
using coordination::Transaction;

void Monitor::prove_hold(Contender& owner, TimePoint now) {
  owner.hold.proof_wanted = false;
  ++owner.hold.proofs;
  Transaction transaction{{Check{child_path(owner.node)}, Check{lock_path_, lock_.version}}};
  transaction.groupable = true;
  transaction.urgent = owner.most_urgent();
  send({.kind = FlightKind::prove_hold, .contender = owner.id}, std::move(transaction), now);
}

void Monitor::confirm(Contender& contender, TimePoint now) {
  const bool idle = !resolving_.busy() && !lock_.in_flight && contender.hold.proofs == 0;
  if (idle && owner_ == &contender && contender.state == ContenderState::claiming) prove_hold(contender, now);
}

// Of one that is being given up its release tells.
void Monitor::on_prove_hold(Contender& contender, const Reply& reply, TimePoint now) {
  --contender.hold.proofs;
  if (contender.abandoned) return;
  if (contender.state == ContenderState::claiming && engine_.withheld(contender)) {
    return on_confirmed(contender, reply, now);
  }
  if (contender.state != ContenderState::held) return;
  if (reply.ok()) {
    const bool last = contender.hold.proofs == 0 && !contender.hold.proof_wanted;
    if (last) engine_.proved(contender, now);
    return;
  }
  // It has changed nothing, so nothing has to be found out either.
  if (reply.code == ReplyCode::throttled) return engine_.prove_later(contender, now);
  contender.hold.proof_wanted = true;  // again, if the resolving finds the lock
  const bool removed = reply.code == ReplyCode::no_node || reply.code == ReplyCode::bad_version;
  need_resolve(removed ? now : now + look_again_after);
}

// Its rank is proved, and now that it still has its lock.
void Monitor::on_confirmed(Contender& contender, const Reply& reply, TimePoint now) {
  if (reply.ok()) return engine_.grant(contender, now);
  if (reply.code == ReplyCode::throttled) return;  // asked again with the next answer
  const bool removed = reply.code == ReplyCode::no_node || reply.code == ReplyCode::bad_version;
  need_resolve(removed ? now : now + look_again_after);
}

}  // namespace forelock::lock
