// An operator's wish: that a contender which waits is of another class. Nobody but its own process can move it, so the
// wish is written into its node, and that process obeys.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "cli/output/console.h"
#include "forelock/client.h"
#include "forelock/inspector.h"

namespace forelock::cli {

struct Wish {
  std::string monitor;
  std::string waiter;  // its node
  Priority priority = Priority::foreground;
  std::string reason;
  std::string by = {};  // empty: the user of this process
};

enum class WishOutcome {
  moved,
  already,  // it stands in that queue already, or is of that class
  unmoved,  // it waits where it has waited
  granted,  // it has got the lock in the meantime
  gone,     // it has ended in the meantime
  // Nothing was done:
  no_such_monitor,
  no_such_waiter,
  holds,
  no_record,  // it left no owner record that tells it from others: a literal client's
  too_large   // its record has no room for a wish
};

struct WishReport {
  WishOutcome outcome = WishOutcome::moved;
  std::optional<WaiterView> waiter;  // as it waits at the end, or was seen last
};

// Writes it, and waits for at most that long for what comes of it. Each request blocks for at most `patience`. What is
// done is audited. \throws Error where nothing was done, or nobody knows.
WishReport make_wish(Client& client, std::chrono::milliseconds patience, const Console& console, const Wish& wish,
                     std::chrono::milliseconds timeout);

}  // namespace forelock::cli
