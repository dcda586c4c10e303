#include "zookeeper/probe.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace forelock::zookeeper {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

bool wait_for(int descriptor, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd entry{descriptor, events, 0};
    const int ready = poll(&entry, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Descriptor connect_to(const addrinfo& address, Clock::time_point deadline, std::string& error) {
  Descriptor connection(
      socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!connection) {
    error = std::strerror(errno);
    return Descriptor();
  }
  if (connect(connection.get(), address.ai_addr, address.ai_addrlen) == 0) return connection;
  if (errno != EINPROGRESS) {
    error = std::strerror(errno);
    return Descriptor();
  }
  if (!wait_for(connection.get(), POLLOUT, deadline)) {
    error = "no answer in time";
    return Descriptor();
  }
  int code = 0;
  socklen_t length = sizeof(code);
  if (getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &code, &length) != 0) code = errno;
  if (code != 0) {
    error = std::strerror(code);
    return Descriptor();
  }
  return connection;
}

// The latency excludes the name service and earlier addresses.
Descriptor connect_to(const std::string& host, std::uint16_t port, Clock::time_point deadline, ConnectProbe& probe) {
  const HostAddresses addresses = resolve_host(host);
  probe.error = addresses.error;
  for (const std::string& numeric : addresses.numeric) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(numeric.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) continue;
    const auto begin = Clock::now();
    Descriptor connection = connect_to(*found, deadline, probe.error);
    freeaddrinfo(found);
    if (connection) {
      probe.connected = true;
      probe.latency = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
      probe.error.clear();
      return connection;
    }
  }
  return Descriptor();
}

std::uint32_t number_at(const std::string& bytes, std::size_t place) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8U | static_cast<unsigned char>(bytes.at(place + i));
  return number;
}

// A connection as a probe uses it: in TLS, or as it is.
class Line {
 public:
  Line(Descriptor connection, const std::string& server, Clock::time_point deadline, const ProbeTls& tls)
      : connection_(std::move(connection)), deadline_(deadline) {
    if (connection_ && tls.context != nullptr) channel_ = tls.context->open(connection_.get(), server, {tls.name});
    if (!channel_) return;
    while (const int wanted = channel_->handshake()) {
      if (wanted > 0 && wait_for(connection_.get(), static_cast<short>(wanted), deadline_)) continue;
      problem_ = channel_->problem();
      connection_ = Descriptor();
      break;
    }
  }

  bool usable() const { return static_cast<bool>(connection_); }
  const std::string& problem() const { return problem_; }

  // What is sent is small.
  bool send(std::string_view bytes) {
    if (!usable()) return false;
    const ssize_t sent = channel_ ? channel_->send(bytes.data(), bytes.size())
                                  : ::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent == static_cast<ssize_t>(bytes.size());
  }

  // Waits for something; 0 at the end, -1 when nothing comes in time.
  ssize_t receive(char* buffer, std::size_t size) {
    while (true) {
      if (!(channel_ && channel_->pending()) && !wait_for(connection_.get(), POLLIN, deadline_)) return -1;
      const ssize_t received = channel_ ? channel_->recv(buffer, size) : ::recv(connection_.get(), buffer, size, 0);
      if (received < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      return received;
    }
  }

 private:
  Descriptor connection_;
  const Clock::time_point deadline_;
  std::unique_ptr<TlsChannel> channel_;
  std::string problem_;
};

// False if it ends, or not all comes in time.
bool receive_all(Line& line, std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t received = line.receive(bytes.data() + done, bytes.size() - done);
    if (received <= 0) return false;
    done += static_cast<std::size_t>(received);
  }
  return true;
}

// One message of the server, of at least this many bytes; nothing if it closes the connection, or not in time.
std::optional<std::string> message(Line& line, std::size_t least) {
  constexpr std::size_t longest = 4096;
  std::string length(4, '\0');
  if (!receive_all(line, length)) return std::nullopt;
  const std::size_t size = number_at(length, 0);
  if (size < least || size > longest) return std::nullopt;
  std::string bytes(size, '\0');
  if (!receive_all(line, bytes)) return std::nullopt;
  return bytes;
}

std::string text_of(const std::string& host, std::uint16_t port, const ProbeTls& tls) {
  const std::string name = to_string(ServerName{tls.name.empty() ? host : tls.name, port});
  return tls.name.empty() || tls.name == host ? name : name + " (" + host + ")";
}

}  // namespace

std::optional<std::string> four_letter_word(const std::string& host, std::uint16_t port, std::string_view word,
                                            std::chrono::milliseconds timeout, const ProbeTls& tls) {
  const auto deadline = Clock::now() + timeout;
  ConnectProbe probe;
  Line line(connect_to(host, port, deadline, probe), text_of(host, port, tls), deadline, tls);
  if (!line.send(word)) return std::nullopt;
  constexpr std::size_t limit = 16 * 1024 * 1024;
  std::string answer;
  while (answer.size() < limit) {
    char buffer[4096];
    const ssize_t received = line.receive(buffer, sizeof(buffer));
    if (received < 0) return std::nullopt;
    if (received == 0) break;
    answer.append(buffer, static_cast<std::size_t>(received));
  }
  if (answer.empty()) return std::nullopt;
  return answer;
}

ConnectProbe probe_session(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout,
                           const ProbeTls& tls) {
  // Its length; version, last transaction seen, time-out; the session 1; its password, 16 zeroes; not read-only.
  static constexpr std::string_view request(
      "\0\0\0\x2d"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\xa0"
      "\0\0\0\0\0\0\0\1"
      "\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
      49);
  const auto deadline = Clock::now() + timeout;
  ConnectProbe probe;
  Line line(connect_to(host, port, deadline, probe), text_of(host, port, tls), deadline, tls);
  // The length of what every server says: old ones leave the last byte out.
  constexpr std::uint32_t longest = 37;
  std::string length(4, '\0');
  if (!line.send(request) || !receive_all(line, length)) return probe;
  probe.serves = number_at(length, 0) == longest || number_at(length, 0) == longest - 1;
  probe.foreign = !probe.serves;
  return probe;
}

std::optional<bool> serves_without_credentials(const std::string& host, std::uint16_t port,
                                               std::chrono::milliseconds timeout, const ProbeTls& tls) {
  using namespace std::string_view_literals;
  // As above, but for a new session. Then: does "/" exist? And: end the session.
  constexpr std::string_view connect =
      "\0\0\0\x2c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\xa0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv;
  constexpr std::string_view exists = "\0\0\0\x0e\0\0\0\1\0\0\0\3\0\0\0\1/\0"sv;
  constexpr std::string_view close = "\0\0\0\x08\0\0\0\2\xff\xff\xff\xf5"sv;
  constexpr std::int32_t no_node = -101, no_auth = -102;
  const auto deadline = Clock::now() + timeout;
  ConnectProbe probe;
  Line line(connect_to(host, port, deadline, probe), text_of(host, port, tls), deadline, tls);
  if (!line.send(connect) || !message(line, 16)) return std::nullopt;
  if (!line.send(exists)) return false;
  const auto answer = message(line, 16);
  if (!answer) return Clock::now() < deadline ? std::optional(false) : std::nullopt;
  const auto code = static_cast<std::int32_t>(number_at(*answer, 12));
  if (line.send(close)) static_cast<void>(message(line, 16));
  return code == 0 || code == no_node || code == no_auth;
}

std::optional<std::string> tls_problem(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout,
                                       const ProbeTls& tls) {
  const auto deadline = Clock::now() + timeout;
  ConnectProbe probe;
  Line line(connect_to(host, port, deadline, probe), text_of(host, port, tls), deadline, tls);
  if (line.usable()) return std::nullopt;
  return line.problem().empty() ? probe.error : line.problem();
}

ConnectProbe probe_connection(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout) {
  ConnectProbe probe;
  static_cast<void>(connect_to(host, port, Clock::now() + timeout, probe));
  return probe;
}

}  // namespace forelock::zookeeper
