#include "zookeeper/tls_transport.h"

#include <poll.h>

#include <cerrno>
#include <exception>
#include <utility>

#include "zookeeper/peer_name.h"

namespace forelock::zookeeper {

#ifdef FORELOCK_TLS

struct TlsTransport::Connection {
  const TlsTransport& owner;
  std::string server;
  std::unique_ptr<TlsChannel> channel;
  bool answered = false;  // a first byte of the server's above TLS

  static Connection& of(void* connection) { return *static_cast<Connection*>(connection); }
};

TlsTransport::TlsTransport(std::shared_ptr<const TlsContext> context, std::shared_ptr<const NameLookup> names,
                           std::function<void(const std::string& server, const std::string& problem)> report)
    : context_(std::move(context)), names_(std::move(names)), report_(std::move(report)) {
  functions_.context = this;
  functions_.open = [](void* self, int socket, const sockaddr_storage* server) -> void* {
    try {
      return static_cast<TlsTransport*>(self)->connect(socket, *server).release();
    } catch (const std::exception&) {
      errno = ENOMEM;
      return nullptr;
    }
  };
  functions_.handshake = [](void* connection) {
    const int wanted = Connection::of(connection).channel->handshake();
    return wanted == POLLIN ? ZOOKEEPER_READ : wanted == POLLOUT ? ZOOKEEPER_WRITE : wanted;
  };
  functions_.send = [](void* connection, const void* bytes, std::size_t count) {
    return Connection::of(connection).channel->send(bytes, count);
  };
  functions_.recv = [](void* connection, void* bytes, std::size_t count) {
    Connection& self = Connection::of(connection);
    const ssize_t received = self.channel->recv(bytes, count);
    // Only now it is certain that the server accepts this client, too.
    if (received > 0 && !std::exchange(self.answered, true)) self.owner.report_(self.server, {});
    return received;
  };
  functions_.pending = [](void* connection) { return Connection::of(connection).channel->pending() ? 1 : 0; };
  functions_.reason = [](void* connection) -> const char* {
    const std::string& problem = Connection::of(connection).channel->problem();
    return problem.empty() ? nullptr : problem.c_str();
  };
  functions_.close = [](void* connection) {
    const std::unique_ptr<Connection> self(static_cast<Connection*>(connection));
    const int code = errno;
    if (!self->answered && !self->channel->problem().empty())
      self->owner.report_(self->server, self->channel->problem());
    errno = code;
  };
}

std::unique_ptr<TlsTransport::Connection> TlsTransport::connect(int socket, const sockaddr_storage& server) const {
  const PeerName peer = name_of_peer(*names_, server);
  return std::make_unique<Connection>(Connection{*this, peer.text, context_->open(socket, peer.text, peer.names)});
}

#endif

}  // namespace forelock::zookeeper
