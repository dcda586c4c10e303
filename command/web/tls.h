// The context of a server's TLS, made of text: files are read by the owner of the server.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "web/server.h"

namespace forelock::web {

// TLS 1.2 and later, with forward secrecy; no renegotiation, no resumption. \throws std::system_error, in whose message
// is what is wrong.
std::shared_ptr<boost::asio::ssl::context> make_tls(const TlsText& text);

}  // namespace forelock::web
