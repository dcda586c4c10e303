// Changes of monitors between two looks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "forelock/inspector.h"

namespace forelock::cli {

struct MonitorChange {
  std::string kind;        // "held", "released", "handed_over" or "waiting"
  MonitorSummary summary;  // as it is now; of one that has gone its id alone
};

// Monitors by their ids.
using MonitorsById = std::map<std::string, MonitorSummary>;

// In the order of the ids, those that have gone at the end.
std::vector<MonitorChange> changes_between(const MonitorsById& before, const MonitorsById& after);

}  // namespace forelock::cli
