#pragma once

#include "support/standard.h"
#include "zookeeper/tls_context.h"

namespace forelock::test {

// Ends a session on the server as if its time had run out: takes the session over and closes it, speaking the protocol
// on a socket of its own. The session's password is not needed, because the server derives it from the session's id
// with a constant that is in its source. Returns true when the server has ended the session. Its client learns of it
// when it connects again, so cut its connection afterwards, else it takes the client two thirds of the session
// time-out. With `tls` it speaks TLS, and shows the certificate of that if there is one.
bool end_session(const std::string& host, std::uint16_t port, std::int64_t session,
                 const zookeeper::TlsContext* tls = nullptr);

}  // namespace forelock::test
