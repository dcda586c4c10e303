// Keys of a settings file that are left to the application, but look like misspelt keys of Forelock.
#pragma once

#include <string_view>
#include <vector>

#include "forelock/configuration_error.h"
#include "forelock/settings.h"

namespace forelock::config {

// In the order of the text, without their values, at most a hundred; for a text that can be read as settings. Throws
// ConfigurationException if it cannot.
std::vector<ConfigurationProblem> doubtful_keys(std::string_view text, Settings::Format format, std::string_view file);

}  // namespace forelock::config
