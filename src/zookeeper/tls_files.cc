#include "zookeeper/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace forelock::zookeeper {
namespace {

[[noreturn]] void refuse(const std::string& setting, const std::string& problem) {
  ERR_clear_error();
  throw std::runtime_error("the file of zookeeper.tls." + setting + ' ' + problem);
}

TlsHandle<BIO> reader_of(const std::string& text) {
  return TlsHandle<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Without it OpenSSL asks for a password on the terminal.
int give_password(char* buffer, int size, int /*writing*/, void* given) {
  const auto& password = *static_cast<const std::string*>(given);
  if (password.empty() || password.size() > static_cast<std::size_t>(size)) return -1;
  std::memcpy(buffer, password.data(), password.size());
  return static_cast<int>(password.size());
}

// All of a kind that stand in the text, at least one. A damaged one is not the end of it.
template <typename Object>
std::vector<TlsHandle<Object>> all_in(const std::string& text, Object* (*read)(BIO*, Object**, pem_password_cb*, void*),
                                      const std::string& setting, const std::string& kind) {
  const TlsHandle<BIO> reader = reader_of(text);
  std::string none;
  std::vector<TlsHandle<Object>> all;
  ERR_clear_error();
  while (Object* const next = read(reader.get(), nullptr, &give_password, &none)) all.emplace_back(next);
  const unsigned long code = ERR_peek_last_error();
  const bool ended = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
  if (!ended) refuse(setting, "has a damaged " + kind + ": " + openssl_error());
  if (all.empty()) refuse(setting, "has no " + kind + " in PEM");
  ERR_clear_error();
  return all;
}

std::vector<TlsHandle<X509>> certificates_in(const std::string& text, const std::string& setting) {
  return all_in<X509>(text, &PEM_read_bio_X509, setting, "certificate");
}

void trust(SSL_CTX* context, const std::string& text) {
  for (const TlsHandle<X509>& certificate : certificates_in(text, "ca.file")) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get()) != 1) {
      refuse("ca.file", "has a certificate that cannot be used: " + openssl_error());
    }
  }
}

void show(SSL_CTX* context, const TlsFiles& files) {
  void* const password = const_cast<std::string*>(&files.key_password);  // as give_password() takes it
  const std::vector<TlsHandle<X509>> chain = certificates_in(files.certificate, "certificate.file");
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) {
    refuse("certificate.file", "has a certificate that cannot be used: " + openssl_error());
  }
  for (auto next = chain.begin() + 1; next != chain.end(); ++next) {
    if (SSL_CTX_add1_chain_cert(context, next->get()) != 1) {
      refuse("certificate.file", "has a chain that cannot be used: " + openssl_error());
    }
  }
  const TlsHandle<BIO> key_reader = reader_of(files.key);
  const TlsHandle<EVP_PKEY> key{PEM_read_bio_PrivateKey(key_reader.get(), nullptr, &give_password, password)};
  if (!key && files.key.find("ENCRYPTED") != std::string::npos) {
    refuse("key.file", files.key_password.empty()
                           ? "is encrypted: name its password's file in zookeeper.tls.key.password.file"
                           : "cannot be read with the password of zookeeper.tls.key.password.file");
  }
  if (!key) refuse("key.file", "has no private key in PEM");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    refuse("key.file", "does not belong to the certificate of zookeeper.tls.certificate.file");
  }
}

void know_revoked(SSL_CTX* context, const std::string& text) {
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const TlsHandle<X509_CRL>& list :
       all_in<X509_CRL>(text, &PEM_read_bio_X509_CRL, "crl.file", "revocation list")) {
    if (X509_STORE_add_crl(store, list.get()) != 1) {
      refuse("crl.file", "has a list that cannot be used: " + openssl_error());
    }
  }
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
}

}  // namespace

std::string openssl_error() {
  const unsigned long code = ERR_peek_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason != nullptr ? reason : "unknown error";
}

TlsHandle<SSL_CTX> make_tls_context(const TlsFiles& files, TlsVersion min_version) {
  // Threads of the C client may still run when the process ends.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  ERR_clear_error();
  TlsHandle<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  if (!context) throw std::runtime_error("OpenSSL cannot be used: " + openssl_error());
  SSL_CTX_set_min_proto_version(context.get(), min_version == TlsVersion::tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  trust(context.get(), files.authorities);
  if (!files.certificate.empty()) show(context.get(), files);
  if (!files.revocations.empty()) know_revoked(context.get(), files.revocations);
  ERR_clear_error();
  return context;
}

}  // namespace forelock::zookeeper
