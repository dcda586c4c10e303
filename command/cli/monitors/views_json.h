// Monitors as JSON: the contract of the command line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "forelock/inspector.h"

namespace forelock::cli {

nlohmann::ordered_json json_of(const HolderView& holder);
nlohmann::ordered_json json_of(const WaiterView& waiter);
nlohmann::ordered_json json_of(const MonitorView& monitor);
nlohmann::ordered_json json_of(const LockSetView& set);
nlohmann::ordered_json json_of(const MonitorSummary& summary);
// {"monitors":[…]}
nlohmann::ordered_json json_of(const std::vector<MonitorSummary>& summaries);

}  // namespace forelock::cli
