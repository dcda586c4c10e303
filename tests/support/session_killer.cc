#include "support/session_killer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace forelock::test {
namespace {

// java.util.Random, as far as nextBytes needs it.
class JavaRandom {
 public:
  explicit JavaRandom(std::int64_t seed) : state_((static_cast<std::uint64_t>(seed) ^ multiplier) & mask) {}

  std::uint32_t next() {
    state_ = (state_ * multiplier + 0xB) & mask;
    return static_cast<std::uint32_t>(state_ >> 16);
  }

 private:
  static constexpr std::uint64_t multiplier = 0x5DEECE66DULL;
  static constexpr std::uint64_t mask = (1ULL << 48) - 1;
  std::uint64_t state_;
};

std::string session_password(std::int64_t session) {
  constexpr std::int64_t server_secret = 0xB3415C00LL;
  JavaRandom random(session ^ server_secret);
  std::string password;
  while (password.size() < 16) {
    std::uint32_t bits = random.next();
    for (int i = 0; i < 4; ++i, bits >>= 8) password.push_back(static_cast<char>(bits & 0xFF));
  }
  return password;
}

void append(std::string& packet, std::int32_t value) {
  const std::uint32_t network = htonl(static_cast<std::uint32_t>(value));
  packet.append(reinterpret_cast<const char*>(&network), sizeof(network));
}

void append(std::string& packet, std::int64_t value) {
  append(packet, static_cast<std::int32_t>(value >> 32));
  append(packet, static_cast<std::int32_t>(value & 0xFFFFFFFF));
}

constexpr int patience_seconds = 10;

// A connection to the server; closes it. Nothing waits for longer than the patience.
class Wire {
 public:
  // Above TLS unless `tls` is nullptr.
  Wire(const std::string& host, std::uint16_t port, const zookeeper::TlsContext* tls)
      : socket_(connect_to(host, port)) {
    if (socket_ < 0 || tls == nullptr) return;
    fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
    channel_ = tls->open(socket_, host, {host});
    for (int wanted = 0; (wanted = channel_->handshake()) != 0;) {
      if (wanted > 0 && ready(static_cast<short>(wanted))) continue;
      close(std::exchange(socket_, -1));
      return;
    }
  }
  ~Wire() {
    channel_.reset();
    if (socket_ >= 0) close(socket_);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  bool there() const { return socket_ >= 0; }

  bool send_packet(const std::string& body) {
    std::string packet;
    append(packet, static_cast<std::int32_t>(body.size()));
    packet += body;
    return transfer(POLLOUT, packet.size(), [&](std::size_t done) {
      const char* const bytes = packet.data() + done;
      const std::size_t left = packet.size() - done;
      return channel_ ? channel_->send(bytes, left) : send(socket_, bytes, left, MSG_NOSIGNAL);
    });
  }

  bool receive_packet(std::string& body) {
    std::uint32_t length = 0;
    if (!receive(reinterpret_cast<char*>(&length), sizeof(length))) return false;
    length = ntohl(length);
    if (length > 1024 * 1024) return false;
    body.resize(length);
    return receive(body.data(), length);
  }

 private:
  static int connect_to(const std::string& host, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return -1;
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) return -1;
    const timeval patience{patience_seconds, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return connection;
    close(connection);
    return -1;
  }

  bool ready(short events) const {
    pollfd poller{socket_, events, 0};
    return poll(&poller, 1, patience_seconds * 1000) == 1;
  }

  bool receive(char* buffer, std::size_t size) {
    return transfer(POLLIN, size, [&](std::size_t done) {
      return channel_ ? channel_->recv(buffer + done, size - done) : recv(socket_, buffer + done, size - done, 0);
    });
  }

  // Until all is through; a socket without TLS waits by itself.
  bool transfer(short events, std::size_t size, const std::function<ssize_t(std::size_t done)>& step) const {
    for (std::size_t done = 0; done < size;) {
      const ssize_t moved = step(done);
      if (moved > 0) {
        done += static_cast<std::size_t>(moved);
      } else if (moved == 0 || errno != EAGAIN || !channel_ || !ready(events)) {
        return false;
      }
    }
    return true;
  }

  int socket_;
  std::unique_ptr<zookeeper::TlsChannel> channel_;
};

enum class Outcome { failed, no_such_session, closing };

Outcome take_over_and_close(Wire& wire, std::int64_t session) {
  std::string take_over;
  append(take_over, std::int32_t{0});  // protocol version
  append(take_over, std::int64_t{0});  // last seen zxid
  append(take_over, std::int32_t{30000});
  append(take_over, session);
  const std::string password = session_password(session);
  append(take_over, static_cast<std::int32_t>(password.size()));
  take_over += password;
  take_over.push_back('\0');  // not read-only
  std::string close_session;
  append(close_session, std::int32_t{1});    // request number
  append(close_session, std::int32_t{-11});  // closeSession
  // Both at once: the server drops the session's old connection, and its client may be back at any moment.
  std::string answer;
  if (!wire.send_packet(take_over) || !wire.send_packet(close_session)) return Outcome::failed;
  if (!wire.receive_packet(answer) || answer.size() < 16) return Outcome::failed;
  if (answer.substr(4, 4) == std::string(4, '\0')) return Outcome::no_such_session;  // a time-out of zero
  return wire.receive_packet(answer) ? Outcome::closing : Outcome::failed;
}

}  // namespace

bool end_session(const std::string& host, std::uint16_t port, std::int64_t session, const zookeeper::TlsContext* tls) {
  constexpr int attempts = 20;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Wire wire(host, port, tls);
    if (!wire.there()) return false;
    const Outcome outcome = take_over_and_close(wire, session);
    // Even after a good answer the next attempt looks whether it is true.
    if (outcome == Outcome::no_such_session) return true;
  }
  return false;
}

}  // namespace forelock::test
