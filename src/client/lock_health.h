// The health of a held lock, which holders check all the time: whether it is certain to be held now. Without a mutex.
#pragma once

#include <chrono>
#include <string>

#include "client/client_core.h"
#include "client/clock.h"
#include "client/ensemble_link.h"
#include "forelock/write_lock.h"

namespace forelock::client {

// `holds`: whether the lock is held and not reported lost; read after the deadline: a lock is declared lost before a
// later reply moves the deadline on, so a reader of the later deadline also sees the loss. And a deadline that has
// passed is not reported before the engine has been told: a reply that it was handling at that moment could move the
// deadline on, and revive what was reported dead.
template <class Holds>
bool is_healthy(EnsembleLink& ensemble, Holds holds) noexcept {
  while (true) {
    const std::int64_t valid_until = ensemble.valid_until();
    if (!holds() || ensemble.in_forked_child()) return false;
    if (nanoseconds(now()) < valid_until) return true;
    ensemble.tick();  // loses the lock, unless the deadline has been moved on in time
    if (ensemble.valid_until() == valid_until) return false;
  }
}

// A larger margin than a third of the session time-out would be reached on a good connection, too. Of the one that is
// asked for: where a server grants less, the agent takes a third of that for a larger margin.
// \throws RequestRejectedException(invalid_argument).
void check_danger_margin(const ClientCore& core, const std::string& monitor, std::chrono::milliseconds margin);

// The state of a lock that is held as far as is known.
template <class Holds>
LockState state_of_held(EnsembleLink& ensemble, Holds holds) noexcept {
  const bool silent = nanoseconds(now()) >= ensemble.suspect_from();
  if (!is_healthy(ensemble, holds)) return LockState::lost;
  return ensemble.connected() && !silent ? LockState::held : LockState::suspect;
}

}  // namespace forelock::client
