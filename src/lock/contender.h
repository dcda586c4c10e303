// What the engine knows of one contender. Plain data: the moves are made by Monitor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lock/contender_state.h"
#include "lock/engine_types.h"

namespace forelock::lock {

class Monitor;

struct Contender {
  ContenderId id = 0;
  Monitor* monitor = nullptr;
  AcquireSpec spec;
  std::uint64_t arrival = 0;  // order of acquire() calls

  ContenderState state = ContenderState::idle;
  // The caller has its final answer; what may be left on the server is being removed.
  bool abandoned = false;
  // A removal of the own node is on its way.
  bool removing = false;
  // A release (or a step aside) was sent and its reply lost: what the resolving does not find may be its doing.
  bool release_unknown = false;
  // A holder that lets others go first: until that is done, it can still learn that its lock was removed.
  bool stepping_aside = false;
  // Proved for good that nobody of another process ranks before it (foreground only).
  bool clear = false;
  // Its own node and privateLock were created in one transaction: only lower numbers were enqueued before the grant.
  bool claimed_at_creation = false;
  // The listing that proves (or disproves) its rank has been sent.
  bool proof_requested = false;
  // It was the first of this process, and others went before it.
  bool waited = false;

  std::string node;  // name of the own node once known
  std::int64_t number = 0;
  Token token = 0;
  TimePoint hold_watch_at = never;
  std::optional<Position> position;
  bool told_foreground_waits = false;
  bool told_background_waits = false;

  bool foreground() const { return spec.priority == Priority::foreground; }
};

}  // namespace forelock::lock
