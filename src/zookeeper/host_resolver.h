// Resolves server names to numeric addresses for the C client.
//
// The C client never gets a name: with names it calls the name service in every iteration of its loop, and while that
// service is down it stops pinging, so the session expires without any event.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "zookeeper/connect_string.h"

namespace forelock::zookeeper {

// Numeric addresses of a host, or why none are known, or no newer ones.
struct HostAddresses {
  std::vector<std::string> numeric;
  std::string error;
};

// May block, for as long as the name service likes. Thread-safe.
using HostResolver = std::function<HostAddresses(const std::string& host)>;

// The system's name service: IPv4 and IPv6, without repetition.
HostAddresses resolve_host(const std::string& host);

// An address that is one already, so that no name service is asked, as resolve_host() would spell it; nullopt for a
// name.
std::optional<std::string> numeric_address(const std::string& host);

struct ResolvedServer {
  ServerName server;
  HostAddresses addresses;
};

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
