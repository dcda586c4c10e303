// Shared by the integration tests: settings, servers, and a look at what is left behind.
#pragma once

#include "forelock/forelock.h"
#include "support/test_server.h"

namespace forelock::test {

// Settings for these servers ("host:port,…/chroot"): a session time-out of 4 s, time-outs of 60 s for both classes,
// and whatever is given.
Settings settings_for(const std::string& servers, std::initializer_list<std::pair<std::string, std::string>> more = {});

// Every ephemeral node of the server, by path: all lock nodes are ephemeral.
std::vector<std::string> ephemeral_nodes(const TestServer& server);
// Waits until there is none below the monitor; true then.
bool wait_until_unused(const TestServer& server, const std::string& monitor,
                       std::chrono::milliseconds timeout = std::chrono::seconds(10));

// How much longer the long variants run: 1, or what FORELOCK_LONG says.
int length();

}  // namespace forelock::test
