// Monitors as text for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "forelock/inspector.h"

namespace forelock::cli {

// A table of monitors; empty text for none.
std::string text_of(const std::vector<MonitorSummary>& summaries, const Console& console);

// Holder and line of one monitor.
std::string text_of(const MonitorView& monitor, const Console& console);

// "Save Content (node-1/4711/main)", or what is known of one that left no record.
std::string who(const std::optional<OwnerRecord>& owner, std::int64_t session);

}  // namespace forelock::cli
