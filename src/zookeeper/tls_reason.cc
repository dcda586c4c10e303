#include "zookeeper/tls_reason.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cctype>
#include <system_error>

#include "zookeeper/tls_files.h"

namespace forelock::zookeeper {
namespace {

// A certificate may say anything, and messages go to terminals.
std::string plain(const unsigned char* text, int size) {
  std::string all;
  for (int i = 0; i < std::min(size, 100); ++i) all += std::isgraph(text[i]) != 0 ? static_cast<char>(text[i]) : '?';
  return all;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string name_of(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) return plain(ASN1_STRING_get0_data(name.d.dNSName), ASN1_STRING_length(name.d.dNSName));
  if (name.type != GEN_IPADD) return {};
  const int size = ASN1_STRING_length(name.d.iPAddress);
  char text[INET6_ADDRSTRLEN] = "";
  if (size == 4 || size == 16) {
    inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name.d.iPAddress), text, sizeof(text));
  }
  return text;
}

// Alerts by which a server says what it thinks of the client.
bool concerns_our_certificate(int reason) {
  switch (reason) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

bool is_end(int error, int system_error, int reason) {
  return reason == SSL_R_UNEXPECTED_EOF_WHILE_READING || error == SSL_ERROR_ZERO_RETURN ||
         (error == SSL_ERROR_SYSCALL && (system_error == 0 || system_error == ECONNRESET || system_error == EPIPE));
}

std::string other_problem(int system_error, const std::string& during) {
  if (system_error != 0 && ERR_peek_error() == 0) {
    return "fails " + during + ": " + std::error_code(system_error, std::generic_category()).message();
  }
  return "fails " + during + ": " + openssl_error();
}

}  // namespace

std::string names_in(X509* certificate) {
  auto* const all = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  std::vector<std::string> names;
  constexpr std::size_t few = 10;
  for (int i = 0; all != nullptr && i < sk_GENERAL_NAME_num(all) && names.size() < few; ++i) {
    if (std::string name = name_of(*sk_GENERAL_NAME_value(all, i)); !name.empty()) names.push_back(std::move(name));
  }
  GENERAL_NAMES_free(all);
  return joined(names);
}

std::string refusal_of(long code, const std::string& shown, const std::vector<std::string>& wanted) {
  switch (code) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
      return "shows a certificate for " + (shown.empty() ? "no server name" : shown) + ", not for " + joined(wanted) +
             ": name it so in zookeeper.servers, or in zookeeper.tls.server.names";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "shows a certificate that has expired, or one of its authorities has";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "shows a certificate that is not valid yet: check the clocks";
    case X509_V_ERR_CERT_REVOKED:
      return "shows a certificate that is revoked";
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      return "shows a certificate of an authority that has no list in the file of zookeeper.tls.crl.file";
    case X509_V_ERR_CRL_HAS_EXPIRED:
      return "cannot be checked: the list in the file of zookeeper.tls.crl.file has expired";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "shows a certificate of no authority in the file of zookeeper.tls.ca.file (" +
             std::string(X509_verify_cert_error_string(code)) + ')';
    default:
      return "shows a certificate that is refused: " + std::string(X509_verify_cert_error_string(code));
  }
}

std::string handshake_problem(int error, int system_error) {
  const int reason = ERR_GET_REASON(ERR_peek_error());
  if (is_end(error, system_error, reason)) {
    return "has ended the connection in the TLS handshake: is this its TLS port, and does it accept this client?";
  }
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
      return "does not speak TLS on this port";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "speaks no TLS version that zookeeper.tls.min.version allows";
    default:
      break;
  }
  return connection_problem(error, system_error);
}

std::string connection_problem(int error, int system_error) {
  const int reason = ERR_GET_REASON(ERR_peek_error());
  if (is_end(error, system_error, reason)) return "has ended the connection";
  if (concerns_our_certificate(reason)) {
    return "refuses this client (" + openssl_error() +
           "): check the files of zookeeper.tls.certificate.file and zookeeper.tls.key.file";
  }
  return other_problem(system_error, "in TLS");
}

}  // namespace forelock::zookeeper
