// TLS to the servers, by the settings.
#pragma once

#include <memory>

#include "forelock/settings.h"
#include "zookeeper/tls_context.h"

namespace forelock::client {

// nullptr where `zookeeper.tls.ca.file` is not set. Checks the files as they are now; throws ConfigurationException.
std::shared_ptr<const zookeeper::TlsContext> make_tls(const Settings& settings);
// The same without a certificate of this client's own, for a look at what a server does then.
std::shared_ptr<const zookeeper::TlsContext> make_nameless_tls(const Settings& settings);

}  // namespace forelock::client
