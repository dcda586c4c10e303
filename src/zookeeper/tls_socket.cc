#include "zookeeper/tls_socket.h"

#include <openssl/bio.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>

namespace forelock::zookeeper {
namespace {

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool would_block() {
  return errno == EAGAIN || errno == EINTR;
}

int write_socket(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(socket_of(bio), bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL);
  if (sent < 0 && would_block()) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_socket(BIO* bio, char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t received = ::recv(socket_of(bio), bytes, static_cast<std::size_t>(count), 0);
  if (received < 0 && would_block()) BIO_set_retry_read(bio);
  if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(received);
}

long control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return 0;
}

// Never freed: connections may outlive static storage.
BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
    if (made == nullptr) return made;
    BIO_meth_set_write(made, &write_socket);
    BIO_meth_set_read(made, &read_socket);
    BIO_meth_set_ctrl(made, &control);
    return made;
  }();
  return method;
}

}  // namespace

TlsHandle<BIO> make_socket_bio(int socket) {
  BIO_METHOD* const method = socket_method();
  TlsHandle<BIO> bio(method != nullptr ? BIO_new(method) : nullptr);
  if (!bio) throw std::runtime_error("OpenSSL cannot be used: " + openssl_error());
  BIO_set_data(bio.get(), reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio.get(), 1);
  return bio;
}

}  // namespace forelock::zookeeper
