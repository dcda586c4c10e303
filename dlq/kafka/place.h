// The place of a Kafka setting, for messages.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "forelock/configuration_error.h"
#include "forelock/settings.h"

namespace forelock::kafka {

struct Place {
  std::string key;   // with the prefix "kafka."
  std::string file;  // or the origin of an override
  int line = 0;      // 0 for an override

  ConfigurationProblem problem(std::string message, std::string hint) const;
};

// Of a setting that was given: of its origin "FILE:LINE", or that of an override.
Place place_of(const Settings::Entry& entry);

}  // namespace forelock::kafka
