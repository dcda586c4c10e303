#include "zookeeper/tls_channel.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <stdexcept>
#include <utility>

#include "zookeeper/host_resolver.h"
#include "zookeeper/tls_files.h"
#include "zookeeper/tls_reason.h"
#include "zookeeper/tls_socket.h"

namespace forelock::zookeeper {
namespace {

// As names stand in certificates.
std::string certified(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  return name;
}

// Wildcards stand for one whole label; the subject's common name is no server name.
bool is_for(X509* certificate, const std::string& name) {
  constexpr unsigned flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
  if (const auto address = numeric_address(name)) return X509_check_ip_asc(certificate, address->c_str(), 0) == 1;
  // OpenSSL takes a leading dot for "any name below".
  if (name.empty() || name.starts_with('.')) return false;
  return X509_check_host(certificate, name.data(), name.size(), flags, nullptr) == 1;
}

class Channel final : public TlsChannel {
 public:
  Channel(SSL_CTX* context, int socket, std::string server, const std::string& shown,
          const std::vector<std::string>& names)
      : server_(std::move(server)), ssl_(SSL_new(context)) {
    for (const std::string& name : names) names_.push_back(certified(name));
    if (!ssl_ || SSL_set_app_data(ssl_.get(), this) != 1) {
      throw std::runtime_error("OpenSSL cannot be used: " + openssl_error());
    }
    BIO* const bytes = make_socket_bio(socket).release();
    SSL_set_bio(ssl_.get(), bytes, bytes);  // both ways, one owner
    SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, &Channel::verify);
    if (const std::string name = certified(shown); !name.empty() && !numeric_address(name)) {
      SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
    }
    SSL_set_connect_state(ssl_.get());
    problem_ = about(unanswered);
  }

  // Tells the server that nothing was cut off.
  ~Channel() override {
    if (SSL_is_init_finished(ssl_.get()) == 1 && problem_.empty()) SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int handshake() override {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) {
      if (name_found_ && SSL_get_verify_result(ssl_.get()) == X509_V_OK) {
        problem_.clear();
        return 0;
      }
      return failed("shows no certificate");
    }
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_READ) return POLLIN;
    if (error == SSL_ERROR_WANT_WRITE) return POLLOUT;
    if (const long code = SSL_get_verify_result(ssl_.get()); code != X509_V_OK && refused_) {
      return failed(refusal_of(code, shown_names_, names_));
    }
    return failed(handshake_problem(error, errno));
  }

  ssize_t send(const void* bytes, std::size_t count) override {
    return finish(SSL_write(ssl_.get(), bytes, size_of(count)), false);
  }

  ssize_t recv(void* bytes, std::size_t count) override {
    return finish(SSL_read(ssl_.get(), bytes, size_of(count)), true);
  }

  bool pending() const override { return SSL_pending(ssl_.get()) > 0; }

  const std::string& problem() const override { return problem_; }

 private:
  static int size_of(std::size_t count) {
    ERR_clear_error();
    errno = 0;
    return static_cast<int>(std::min<std::size_t>(count, INT_MAX));
  }

  // The thread's list of errors was empty before.
  ssize_t finish(int result, bool reading) {
    if (result > 0) return result;
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
      errno = EAGAIN;
      return -1;
    }
    if (reading && error == SSL_ERROR_ZERO_RETURN) return 0;
    const int code = errno;
    failed(connection_problem(error, code));
    // What would be waited for never comes: the alert that tells the server may have found its socket full.
    if (code != 0 && code != EAGAIN && code != EINTR) errno = code;
    return -1;
  }

  std::string about(const std::string& text) const { return "TLS to " + server_ + ": it " + text; }

  int failed(const std::string& text) {
    problem_ = about(text);
    ERR_clear_error();
    errno = EPROTO;
    return -1;
  }

  // For each certificate of the chain, from the authority's down to the server's own.
  static int verify(int accepted, X509_STORE_CTX* store) {
    auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto& self = *static_cast<Channel*>(SSL_get_app_data(ssl));
    if (accepted == 1 && X509_STORE_CTX_get_error_depth(store) == 0) {
      X509* const certificate = X509_STORE_CTX_get_current_cert(store);
      self.name_found_ = std::any_of(self.names_.begin(), self.names_.end(),
                                     [&](const std::string& name) { return is_for(certificate, name); });
      if (!self.name_found_) {
        self.shown_names_ = names_in(certificate);
        X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
        accepted = 0;
      }
    }
    if (accepted != 1) self.refused_ = true;
    return accepted;
  }

  const std::string server_;
  std::vector<std::string> names_;
  const TlsHandle<SSL> ssl_;
  std::string problem_;
  std::string shown_names_;
  bool name_found_ = false;
  bool refused_ = false;
};

class FailedChannel final : public TlsChannel {
 public:
  explicit FailedChannel(std::string problem) : problem_(std::move(problem)) {}
  int handshake() override {
    errno = EPROTO;
    return -1;
  }
  ssize_t send(const void* /*bytes*/, std::size_t /*count*/) override { return handshake(); }
  ssize_t recv(void* /*bytes*/, std::size_t /*count*/) override { return handshake(); }
  bool pending() const override { return false; }
  const std::string& problem() const override { return problem_; }

 private:
  const std::string problem_;
};

}  // namespace

std::unique_ptr<TlsChannel> make_tls_channel(SSL_CTX* context, int socket, std::string server, const std::string& shown,
                                             const std::vector<std::string>& names) {
  return std::make_unique<Channel>(context, socket, std::move(server), shown, names);
}

std::unique_ptr<TlsChannel> make_failed_channel(std::string server, const std::string& problem) {
  return std::make_unique<FailedChannel>("TLS to " + std::move(server) + ": " + problem);
}

}  // namespace forelock::zookeeper
