// The files of `serve`'s TLS.
#pragma once

#include <string>

#include "web/server.h"

namespace forelock::cli {

struct TlsFiles {
  std::string certificate;         // --tls-certificate
  std::string key;                 // --tls-key
  std::string client_authorities;  // --tls-client-ca

  // \throws FailureException (usage) where one is missing that another one needs.
  void check() const;
  bool used() const { return !certificate.empty(); }
};

// \throws FailureException (configuration) if one cannot be read, or the key's is not closed to others.
web::TlsText read_tls_files(const TlsFiles& files);

// \throws FailureException (not permitted) if an address that others reach would be served in the clear, or to
// everybody though nobody has said so.
void check_reach(const std::string& address, const TlsFiles& files, bool readable_by_all);

}  // namespace forelock::cli
