// Who did what to other people's locks, and why: on stderr and in the system's log.
#pragma once

#include <optional>
#include <string>

#include "cli/console.h"
#include "forelock/inspector.h"

namespace forelock::cli {

struct AuditRecord {
  std::string action;  // "release"
  std::string monitor;
  std::string holder;  // as it was named
  std::optional<HolderView> view;
  std::string reason;
  std::string result;
};

// Writes one line of JSON; -q does not silence it.
void audit(const AuditRecord& record, const Console& console);

}  // namespace forelock::cli
