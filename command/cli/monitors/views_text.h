// Monitors as text for people.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/console.h"
#include "forelock/inspector.h"

namespace forelock::cli {

// Whether it has held for longer than it has said.
bool is_overdue(const std::optional<HolderView>& holder);

// A table of monitors; empty text for none.
std::string text_of(const std::vector<MonitorSummary>& summaries, const Console& console);

// "one of 3 monitors that are locked together: P1, P2, P3; it waits for P2, held by …"
std::string text_of(const LockSetView& set);

// Holder and queue of one monitor; with how long each waiter will probably still wait, if each place takes `pace`.
std::string text_of(const MonitorView& monitor, const Console& console,
                    std::optional<std::chrono::nanoseconds> pace = std::nullopt);

// "Save Content (node-1/4711/main)", or what is known of one that left no record.
std::string who(const std::optional<OwnerRecord>& owner, std::int64_t session);

}  // namespace forelock::cli
