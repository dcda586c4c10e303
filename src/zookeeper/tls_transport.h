// TLS as the C client's transport.
#pragma once

#include <zookeeper/zookeeper.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zookeeper/name_lookup.h"
#include "zookeeper/tls_context.h"

namespace forelock::zookeeper {

#ifdef FORELOCK_TLS

// Outlives the C client's handle. Its functions are called on the threads of that.
class TlsTransport {
 public:
  // `report`: what an attempt to connect to a server has met, or empty when TLS is there. Must not block for long.
  TlsTransport(std::shared_ptr<const TlsContext> context, std::shared_ptr<const NameLookup> names,
               std::function<void(const std::string& server, const std::string& problem)> report);
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  const zoo_transport_t* get() const { return &functions_; }

 private:
  struct Connection;

  std::unique_ptr<Connection> connect(int socket, const sockaddr_storage& server) const;

  const std::shared_ptr<const TlsContext> context_;
  const std::shared_ptr<const NameLookup> names_;
  const std::function<void(const std::string&, const std::string&)> report_;
  zoo_transport_t functions_{};
};

#endif

}  // namespace forelock::zookeeper
