// A NameLookup resolves server names on threads that no other thread waits for: a silent name service delays neither a
// connection to a known address nor the end of the client.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "zookeeper/connect_string.h"
#include "zookeeper/host_resolver.h"

namespace forelock::zookeeper {

// Thread-safe. There is at most one look-up of each name at a time; one that is under way at the end of this object
// continues without it.
class NameLookup {
 public:
  // How long names without an answer are waited for when another server has an address already.
  static constexpr std::chrono::milliseconds patience{500};

  // `resolver` is the system's when empty. It is called on threads of their own, not for numeric addresses, and may be
  // called after the end of this object.
  NameLookup(std::vector<ServerName> servers, HostResolver resolver);
  ~NameLookup();
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  // Begins to look up every name that is not being looked up already.
  void begin();
  // Waits until every name is answered, at most `limit`, and at most `patience` once a server has an address.
  void wait(std::chrono::milliseconds limit);
  // One entry for each server, in order, as last known: a name that cannot be looked up at the moment keeps the
  // addresses that it had, and has an error besides.
  std::vector<ResolvedServer> latest() const;
  // By which names the servers of this address and port are known; if it is nobody's, by which it was known before: the
  // C client may try an address long after its name has moved. Empty when there is none, or too many have come since.
  std::vector<std::string> names_of(const std::string& address, std::uint16_t port) const;
  // wait() returns at once, from now on.
  void cancel();

 private:
  struct State;

  const std::vector<ServerName> servers_;
  const std::shared_ptr<State> state_;
};

}  // namespace forelock::zookeeper
