// Audit lines, on stderr, in the audit file and in the system's log: who did what to the locks and letters of others,
// and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/output/console.h"
#include "forelock/inspector.h"

namespace forelock::cli {

struct AuditRecord {
  std::string action;  // "release", or "unlock": of the unlocker
  std::string by;      // who does it
  std::string monitor;
  std::string holder;  // as it was named
  std::optional<HolderView> view;
  bool looked_after = false;        // whether `after` is known
  std::optional<HolderView> after;  // who held it when it was done; nothing: it was free
  std::string reason;
  std::string result;  // `begun`, or what came of it
};

// The result of an act that is about to be done: should its process end now, the record of the act is there.
inline constexpr const char* begun = "begun";

// Writes one line of JSON; -q does not silence it. That it has begun goes not to stderr. \throws FailureException if
// `begun` cannot be written into the audit file: then it is not to be done.
void audit(const AuditRecord& record, const Console& console);

// An operator's wish that a waiting contender is of another class. `begun` as above. \throws as audit().
struct WishAudit {
  std::string by;
  std::string monitor;
  std::string waiter;              // its node, as it was named
  std::optional<WaiterView> view;  // when it was looked at
  Priority priority = Priority::foreground;
  std::string node;  // its new one, if it has moved
  std::string reason;
  std::string result;  // `begun`, or what came of it
};
void audit_wish(const WishAudit& record, const Console& console);

// What is done with dead letters, at its begin and at its end. What a topic keeps of it ("…@TOKEN") is explained by the
// line with this token. \throws as audit().
struct DrainAudit {
  std::string action;  // "purge"
  std::string store;
  std::uint64_t token = 0;  // of the drainer's lock
  std::string which;        // letters, as on the command line
  std::string result;       // "begun", or what came of it
  std::string by = {};      // empty: the user of this process
  std::string reason = {};  // where one was given
};
void audit_drain(const DrainAudit& record, const Console& console);

// The user who logged in, where the kernel's audit or sudo knows it, also when this process runs as another: "anna (as
// root)". Otherwise the user of this process. $SUDO_USER can be set by the user: it names, it does not prove.
std::string acting_user();

}  // namespace forelock::cli
