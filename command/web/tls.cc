#include "web/tls.h"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace forelock::web {
namespace {

namespace ssl = boost::asio::ssl;

// OpenSSL would ask for it at the terminal.
std::string no_password(std::size_t, ssl::context::password_purpose) {
  return {};
}

template <class Action>
void do_or_say(const char* what, Action action) {
  try {
    action();
  } catch (const boost::system::system_error& problem) {
    throw std::runtime_error(std::string(what) + ": " + problem.code().message());
  }
}

}  // namespace

std::shared_ptr<ssl::context> make_tls(const TlsText& text) {
  const auto tls = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const context = tls->native_handle();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  tls->set_password_callback(no_password);
  const auto buffer = [](const std::string& pem) { return boost::asio::buffer(pem); };
  do_or_say("the certificate", [&] { tls->use_certificate_chain(buffer(text.certificate)); });
  do_or_say("the key", [&] { tls->use_private_key(buffer(text.key), ssl::context::pem); });
  if (SSL_CTX_check_private_key(context) != 1) throw std::runtime_error("the key is not that of the certificate");
  if (text.client_authorities.empty()) return tls;
  do_or_say("the clients' authorities", [&] { tls->add_certificate_authority(buffer(text.client_authorities)); });
  tls->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  return tls;
}

}  // namespace forelock::web
