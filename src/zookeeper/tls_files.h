// OpenSSL's context, made from the texts of files.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "zookeeper/tls_context.h"

namespace forelock::zookeeper {

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
  void operator()(BIO* bytes) const { BIO_free(bytes); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_CRL* list) const { X509_CRL_free(list); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
};
template <typename Object>
using TlsHandle = std::unique_ptr<Object, FreeTls>;

// The oldest error of this thread that OpenSSL knows of, in its words; forgets them all.
std::string openssl_error();

// Trusts `files.authorities` and nothing else: neither the system's authorities nor those of the environment. Throws
// std::runtime_error, without any of the contents.
TlsHandle<SSL_CTX> make_tls_context(const TlsFiles& files, TlsVersion min_version);

}  // namespace forelock::zookeeper
