#include "support/session_killer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

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

bool send_packet(int socket, const std::string& body) {
  std::string packet;
  append(packet, static_cast<std::int32_t>(body.size()));
  packet += body;
  return send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
}

bool receive(int socket, char* buffer, std::size_t size) {
  return recv(socket, buffer, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

bool receive_packet(int socket, std::string& body) {
  std::uint32_t length = 0;
  if (!receive(socket, reinterpret_cast<char*>(&length), sizeof(length))) return false;
  length = ntohl(length);
  if (length > 1024 * 1024) return false;
  body.resize(length);
  return receive(socket, body.data(), length);
}

int connect_to(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return -1;
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return -1;
  const timeval patience{10, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return connection;
  close(connection);
  return -1;
}

enum class Outcome { failed, no_such_session, closing };

Outcome take_over_and_close(int connection, std::int64_t session) {
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
  if (!send_packet(connection, take_over) || !send_packet(connection, close_session)) return Outcome::failed;
  if (!receive_packet(connection, answer) || answer.size() < 16) return Outcome::failed;
  if (answer.substr(4, 4) == std::string(4, '\0')) return Outcome::no_such_session;  // a time-out of zero
  return receive_packet(connection, answer) ? Outcome::closing : Outcome::failed;
}

}  // namespace

bool end_session(const std::string& host, std::uint16_t port, std::int64_t session) {
  constexpr int attempts = 20;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const int connection = connect_to(host, port);
    if (connection < 0) return false;
    const Outcome outcome = take_over_and_close(connection, session);
    close(connection);
    // Even after a good answer the next attempt looks whether it is true.
    if (outcome == Outcome::no_such_session) return true;
  }
  return false;
}

}  // namespace forelock::test
