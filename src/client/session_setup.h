// The session with the servers, by the settings.
#pragma once

#include <string>

#include "forelock/settings.h"
#include "zookeeper/session_options.h"

namespace forelock::client {

// The ensemble in messages: its servers and the chroot, as ZooKeeper's clients write them.
std::string ensemble_name(const Settings& settings);

// The same whatever the order of the servers: by what a session file knows the ensemble and the chroot.
std::string ensemble_identity(const Settings& settings);

// \throws ConfigurationException if the credentials' or TLS files cannot be used.
zookeeper::SessionOptions session_options(const Settings& settings);

}  // namespace forelock::client
