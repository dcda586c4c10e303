#include "zookeeper/tls_transport.h"

#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <utility>

namespace forelock::zookeeper {

std::vector<std::string> names_of_address(const std::vector<ResolvedServer>& servers, const std::string& address,
                                          std::uint16_t port) {
  std::vector<std::string> names;
  for (const ResolvedServer& each : servers) {
    const std::vector<std::string>& numeric = each.addresses.numeric;
    if (each.server.port != port || std::find(numeric.begin(), numeric.end(), address) == numeric.end()) continue;
    if (std::find(names.begin(), names.end(), each.server.host) == names.end()) names.push_back(each.server.host);
  }
  return names;
}

#ifdef FORELOCK_TLS

struct TlsTransport::Connection {
  const TlsTransport& owner;
  std::string server;
  std::unique_ptr<TlsChannel> channel;
  bool answered = false;  // a first byte of the server's above TLS

  static Connection& of(void* connection) { return *static_cast<Connection*>(connection); }
};

namespace {

socklen_t size_of(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

}  // namespace

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
  char host[NI_MAXHOST] = "";
  char service[NI_MAXSERV] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&server), size_of(server), host, sizeof(host), service, sizeof(service),
              NI_NUMERICHOST | NI_NUMERICSERV);
  std::uint16_t port = 0;
  std::from_chars(service, service + std::strlen(service), port);
  const std::vector<std::string> names = names_of_address(names_->latest(), host, port);
  // A name that was found and then moved away leaves no name to check: the address stands for itself.
  const std::string shown = to_string(ServerName{names.empty() ? host : names.front(), port});
  const std::string text = names.empty() || names.front() == host ? shown : shown + " (" + host + ")";
  return std::make_unique<Connection>(
      Connection{*this, text, context_->open(socket, text, names.empty() ? std::vector<std::string>{host} : names)});
}

#endif

}  // namespace forelock::zookeeper
