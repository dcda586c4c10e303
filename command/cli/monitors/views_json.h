// Monitors as JSON: the contract of the command line.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "forelock/inspector.h"

namespace forelock::cli {

nlohmann::ordered_json json_of(const HolderView& holder);
nlohmann::ordered_json json_of(const WaiterView& waiter);
nlohmann::ordered_json json_of(const MonitorView& monitor);
// To the JSON of a monitor, if each place of its queue takes so long.
void add_expected_waits(nlohmann::ordered_json& monitor, std::chrono::nanoseconds pace);
nlohmann::ordered_json json_of(const LockSetView& set);
nlohmann::ordered_json json_of(const MonitorSummary& summary);
// {"monitors":[…]}
nlohmann::ordered_json json_of(const std::vector<MonitorSummary>& summaries);

}  // namespace forelock::cli
