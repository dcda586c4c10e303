// SASL to the servers, by the settings.
#pragma once

#include <memory>

#include "forelock/settings.h"
#include "zookeeper/sasl_context.h"

namespace forelock::client {

// nullptr where `zookeeper.sasl.mechanism` is not set. Checks the password's file, and that there is a library with
// that mechanism; throws ConfigurationException.
std::shared_ptr<const zookeeper::SaslContext> make_sasl(const Settings& settings);

}  // namespace forelock::client
