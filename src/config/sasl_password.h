// Reads the file of `zookeeper.sasl.password.file`.
#pragma once

#include <string>

#include "forelock/settings.h"

namespace forelock::config {

// The password; the file is to be private (config/private_file.h). Throws ConfigurationException, without any of the
// contents.
std::string read_sasl_password(const Settings& settings);

}  // namespace forelock::config
