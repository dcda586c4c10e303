// Phrases for problems that OpenSSL reports of a connection, each to follow "the server".
#pragma once

#include <openssl/x509.h>

#include <string>
#include <vector>

namespace forelock::zookeeper {

inline constexpr const char* unanswered = "has not answered the TLS handshake: is this its TLS port, and does it run?";

// The names of a certificate: "a.example, 10.0.0.1".
std::string names_in(X509* certificate);

// Why a certificate is not accepted: `code` is X509_V_ERR_…, `shown` its names, `wanted` those of which one should
// stand in it.
std::string refusal_of(long code, const std::string& shown, const std::vector<std::string>& wanted);

// Of a failed handshake, from SSL_get_error, errno and this thread's list of errors.
std::string handshake_problem(int error, int system_error);

// The same of a connection that was up.
std::string connection_problem(int error, int system_error);

}  // namespace forelock::zookeeper
