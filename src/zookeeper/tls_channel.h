// A TLS connection over OpenSSL.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "zookeeper/tls_context.h"

namespace forelock::zookeeper {

// `shown`: the name that the server is told it is asked by, unless that is an address. `names`: one of them is to stand
// in its certificate. Throws std::runtime_error.
std::unique_ptr<TlsChannel> make_tls_channel(SSL_CTX* context, int socket, std::string server, const std::string& shown,
                                             const std::vector<std::string>& names);

// One whose handshake fails for this reason.
std::unique_ptr<TlsChannel> make_failed_channel(std::string server, const std::string& problem);

}  // namespace forelock::zookeeper
