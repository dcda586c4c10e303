// A socket as OpenSSL reads and writes it, without SIGPIPE.
#pragma once

#include "zookeeper/tls_files.h"

namespace forelock::zookeeper {

// OpenSSL's own writes so that a server that has gone ends the process, unless its host ignores that signal. The socket
// stays the caller's. Throws std::runtime_error.
TlsHandle<BIO> make_socket_bio(int socket);

}  // namespace forelock::zookeeper
