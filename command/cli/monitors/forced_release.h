// A forced release takes a lock away from its holder: with a note for those who lose it, and an audit record.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "cli/output/console.h"
#include "forelock/client.h"
#include "forelock/inspector.h"

namespace forelock::cli {

struct ForcedRelease {
  std::string action;  // "release", or "unlock": of the unlocker
  std::string monitor;
  std::string holder;  // its node, or its session, with @TOKEN behind it
  std::string reason;
  std::string by = {};  // whose act it is; empty: of the user of this process
};

enum class ReleaseOutcome {
  released,
  holder_changed,   // nothing was done
  no_such_monitor,  // nothing was done
  unknown           // the answer of the server is lost: it may have been done
};

struct ReleaseReport {
  ReleaseOutcome outcome = ReleaseOutcome::released;
  std::optional<HolderView> before;  // who held it
  std::exception_ptr problem;        // of `unknown`
};

// Takes it away if that holder still holds it, and `only_if` is true of it. Blocks for as long as the requests take,
// each at most for `patience`, and a second more to look for a lost answer. Whatever comes of it is audited, unless
// nothing was done. \throws Error where nothing was done.
ReleaseReport force_release(
    Client& client, std::chrono::milliseconds patience, const Console& console, const ForcedRelease& release,
    const std::function<bool(const HolderView&)>& only_if = [](const HolderView&) { return true; });

// How a holder is named: its node, or its session where it has none; and so with its token.
std::string node_of(const HolderView& holder);
std::string known_as(const HolderView& holder);

}  // namespace forelock::cli
