// Probes servers without a session, for diagnosis.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zookeeper/host_resolver.h"
#include "zookeeper/tls_context.h"

namespace forelock::zookeeper {

// TLS to the server that is looked at, if it is used.
struct ProbeTls {
  const TlsContext* context = nullptr;
  std::string name;  // by which the host was found
};

// The answer to a four-letter word ("srvr", "ruok", "mntr"…), or nothing when the server cannot be reached, does not
// answer in time, or says nothing. A server that does not permit the word says so in its answer. Blocks up to `timeout`
// in all, plus the name service's time when `host` is a name. Thread-safe.
std::optional<std::string> four_letter_word(const std::string& host, std::uint16_t port, std::string_view word,
                                            std::chrono::milliseconds timeout, const ProbeTls& tls = {});

struct ConnectProbe {
  bool connected = false;
  std::chrono::microseconds latency{0};  // of the TCP connection, when connected
  std::string error;                     // why not
  bool serves = false;                   // probe_session(): it answers those who ask for a session
  bool foreign = false;                  // probe_session(): it answers, but not as a ZooKeeper server does
};

// Opens a TCP connection to the first of the host's addresses that takes one, and closes it. Blocks and thread-safe as
// before.
ConnectProbe probe_connection(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout);

// The same, and asks for a session that there is not, which makes none: a server that serves says that it has expired,
// one without a quorum says nothing.
ConnectProbe probe_session(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout,
                           const ProbeTls& tls = {});

// Whether TLS is there, by its handshake; why not otherwise. A server that refuses this client's certificate may say so
// only later.
std::optional<std::string> tls_problem(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout,
                                       const ProbeTls& tls);

// Whether the server answers requests of those who have shown no credentials, by a session that ends with the call;
// nothing if it gave no session in time. Where it does, ACLs are no wall: the password of any session can be computed
// from its id, which every client may read at the nodes of that session. Blocks and thread-safe as before.
std::optional<bool> serves_without_credentials(const std::string& host, std::uint16_t port,
                                               std::chrono::milliseconds timeout, const ProbeTls& tls = {});

}  // namespace forelock::zookeeper
