#include "cli/serve/tls_files.h"

#include <fstream>
#include <iterator>
#include <system_error>
#include <variant>

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "config/private_file.h"

namespace forelock::cli {
namespace {

constexpr std::size_t longest_pem = 1024 * 1024;

[[noreturn]] void throw_bad_tls_file(const std::string& message, const std::string& hint) {
  throw FailureException({exit_configuration, "tls", message, hint, {}, false, {}});
}

std::string read_open_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad() || !file.is_open()) throw_bad_tls_file(path + ": cannot be read", "a file in PEM is expected");
  return text;
}

[[noreturn]] void throw_not_permitted(const std::string& address, const std::string& why, const std::string& hint) {
  throw FailureException(
      {exit_configuration,
       "not_permitted",
       "--listen " + address + ": not an address of this machine alone (127.0.0.1 or [::1]), and " + why,
       hint,
       {},
       false,
       {}});
}

}  // namespace

void TlsFiles::check() const {
  if (certificate.empty() != key.empty())
    throw_usage("serve: --tls-certificate and --tls-key need each other", "a certificate and its key, both in PEM");
  if (certificate.empty() && !client_authorities.empty())
    throw_usage("serve: --tls-client-ca needs --tls-certificate", "clients show theirs in TLS alone");
}

web::TlsText read_tls_files(const TlsFiles& files) {
  web::TlsText text;
  text.certificate = read_open_file(files.certificate);
  auto key = config::read_private_file(files.key, longest_pem, "the private key");
  if (const auto* fault = std::get_if<config::Fault>(&key))
    throw_bad_tls_file(files.key + ": " + fault->message, fault->hint);
  text.key = std::get<std::string>(std::move(key)) + '\n';
  if (!files.client_authorities.empty()) {
    text.client_authorities = read_open_file(files.client_authorities);
    if (text.client_authorities.empty()) throw_bad_tls_file(files.client_authorities + ": is empty", "PEM is expected");
  }
  return text;
}

void check_reach(const std::string& address, const TlsFiles& files, bool readable_by_all) {
  if (web::is_loopback(address)) return;
  if (!files.used())
    throw_not_permitted(address, "it would be served in the clear",
                        "give it --tls-certificate and --tls-key; or listen at 127.0.0.1, behind a proxy with TLS that "
                        "authenticates, and name its host with --allow-host");
  if (files.client_authorities.empty() && !readable_by_all)
    throw_not_permitted(address, "every machine that reaches it could read everything",
                        "--tls-client-ca FILE lets those in whose certificate is of that authority; "
                        "--readable-by-all says that all may");
}

}  // namespace forelock::cli
