// From server names to the numeric addresses that the C client gets.
//
// The C client is never given a name: with names it asks the name service on every turn of its loop, and while that
// service is down it stops pinging, so the session dies without any event.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "zookeeper/connect_string.h"

namespace forelock::zookeeper {

// Numeric addresses of a host, or why there are none.
struct HostAddresses {
  std::vector<std::string> numeric;
  std::string error;
};

// May block. Called by start() and refresh_servers() on their callers' threads only.
using HostResolver = std::function<HostAddresses(const std::string& host)>;

// The system's name service: IPv4 and IPv6, without repetition.
HostAddresses resolve_host(const std::string& host);

struct ResolvedServer {
  ServerName server;
  HostAddresses addresses;
};

// One entry for each server, in order.
std::vector<ResolvedServer> resolve_servers(const std::vector<ServerName>& servers, const HostResolver& resolver);

// "1.2.3.4:2181,::1:2181" as the C client reads it: sorted and without repetition, so that equal sets are equal texts.
// Empty when no server has an address.
std::string client_address_list(const std::vector<ResolvedServer>& servers);

// Which hosts failed and why: "zk1: Name or service not known; zk2: …". Empty when none did.
std::string failures_of(const std::vector<ResolvedServer>& servers);

// No server has an address: which, why, and what to do about it.
class NoServerAddress : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace forelock::zookeeper
