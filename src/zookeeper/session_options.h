// The options of a ZooKeeper session.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zookeeper/host_resolver.h"
#include "zookeeper/name_lookup.h"
#include "zookeeper/sasl_context.h"
#include "zookeeper/tls_context.h"

namespace forelock::zookeeper {

// One entry of an access control list, in ZooKeeper's terms.
struct AclEntry {
  std::int32_t permissions = 0;  // sum of read 1, write 2, create 4, delete 8, admin 16
  std::string scheme;            // "world", "auth", "digest", "ip"
  std::string id;
};

// The access control list that created nodes get.
struct AclPolicy {
  enum class Kind {
    open,         // anybody may do anything
    creator_all,  // only clients with the creator's credential; the server refuses it (invalid_acl) without one
    list          // `entries`
  };
  Kind kind = Kind::open;
  std::vector<AclEntry> entries;
};

// A session's credentials at the servers. Any holder of them can take over or end the session: never logged.
struct SessionIdentity {
  std::int64_t id = 0;
  std::array<char, 16> password{};

  bool operator==(const SessionIdentity&) const = default;
};

struct SessionOptions {
  // "host:port,host:port[/chroot]". Port 2181 when absent; an IPv6 address stands in brackets.
  std::string servers = "localhost:2181";
  // Nodes of the chroot that do not exist are created. Otherwise the session is connected without them, and there is
  // no node in its namespace, not even "/".
  bool make_chroot = true;
  // What is asked for; the server decides, and `connected` tells.
  std::chrono::milliseconds session_timeout{5000};
  // The session to take over; nothing: a new one. If it is over, that is reported as its end (`expired`).
  std::optional<SessionIdentity> taken_over;
  // "user:password" of the digest scheme. Never logged.
  std::optional<std::string> credential;
  AclPolicy acl;
  // Requests that take more bytes are refused locally. The server's own limit (jute.maxbuffer) is 1 MiB - 1, and it
  // cuts the connection; the margin is for what the servers add when they forward a request.
  std::size_t max_request_bytes = 1024 * 1024 - 1024;
  // Receives the C client's error messages, from its threads; must not call the session. Silent when empty.
  std::function<void(std::string_view)> log;
  // Tells SessionEvent::asked_at; the steady clock when empty.
  std::function<std::chrono::steady_clock::time_point()> clock;
  // How names become addresses; the system's resolver when empty.
  HostResolver resolver;
  // The look-ups of the servers above, for an owner that makes one session after the other; nullptr for the session's
  // own. `resolver` is not used then.
  std::shared_ptr<NameLookup> names;
  // Every byte to and from the servers goes through it; nullptr: TLS is not used.
  std::shared_ptr<const TlsContext> tls;
  // Authenticates every connection; nullptr: SASL is not used.
  std::shared_ptr<const SaslContext> sasl;
};

}  // namespace forelock::zookeeper
