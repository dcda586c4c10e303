#include "support/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/free_port.h"

namespace forelock::test {
namespace {

using Clock = std::chrono::steady_clock;
using Direction = TcpProxy::Direction;

constexpr int backlog = 128;
constexpr std::size_t chunk_size = 64 * 1024;
constexpr std::size_t queue_limit = 4 * 1024 * 1024;

sockaddr_in endpoint(const std::string& numeric, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, numeric.c_str(), &address.sin_addr);
  return address;
}

// A port that was asked for by number stays with its socket even while that does not listen. If the proxy gave it up to
// refuse connections, the client's own attempts could take it: any port may become the near end of a connection.
int bind_listener(const std::string& listen_address, std::uint16_t& port) {
  for (int attempt = 1;; ++attempt) {
    port = free_ports(1).front();
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // Else the port could not listen again beside connections that it accepted before.
    const int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    const sockaddr_in address = endpoint(listen_address, port);
    if (listener >= 0 && bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
      return listener;
    }
    const int error = errno;
    if (listener >= 0) close(listener);
    if (attempt == 20) throw std::system_error(error, std::generic_category(), "proxy finds no port");
  }
}

void close_with_reset(int socket) {
  if (socket < 0) return;
  const linger abort{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
  close(socket);
}

struct Piece {
  Clock::time_point due;
  std::string bytes;
};

// One direction of a connection.
struct Flow {
  int from = -1;
  int to = -1;
  bool ended = false;  // nothing more comes
  Clock::time_point last_due{};
  std::deque<Piece> pieces;
  std::size_t queued = 0;
};

struct Connection {
  int number = 0;
  int client = -1;
  int server = -1;
  std::array<Flow, 2> flows;  // by Direction
  bool half_open = false;     // one end is gone, and the other one does not know
  bool broken = false;
};

}  // namespace

// All state is guarded by one mutex, which the thread gives up only while it polls.
class TcpProxy::Loop {
 public:
  Loop(std::uint16_t server_port, std::string listen_address)
      : listen_address_(std::move(listen_address)),
        server_port_(server_port),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        listener_(bind_listener(listen_address_, port_)) {
    start_listening();
    thread_ = std::thread(&Loop::run, this);
  }

  ~Loop() {
    with_lock([this] { stop_ = true; });
    thread_.join();
    for (const auto& each : connections_) drop(*each);
    close(listener_);
    close(wake_);
  }

  template <typename Action>
  void with_lock(Action&& action) {
    {
      std::lock_guard lock(mutex_);
      action();
    }
    const std::uint64_t one = 1;
    static_cast<void>(!write(wake_, &one, sizeof(one)));
  }

  void cut() {
    with_lock([this] {
      for (const auto& each : connections_) drop(*each);
      connections_.clear();
    });
  }

  void refuse(bool on) {
    with_lock([this, on] {
      if (on == refusing_) return;
      refusing_ = on;
      if (on) {
        shutdown(listener_, SHUT_RD);
      } else {
        start_listening();
      }
    });
  }

  void half_cut(Direction silent, bool on) {
    refuse(on);
    with_lock([this, silent, on] {
      for (const auto& each : connections_) {
        if (each->half_open && !on) drop(*each);
        if (each->half_open || !on) continue;
        each->half_open = true;
        close_with_reset(std::exchange(silent == Direction::to_server ? each->client : each->server, -1));
      }
      std::erase_if(connections_, [](const auto& each) { return each->broken; });
    });
  }

  std::vector<std::uint16_t> near_ports() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint16_t> ports;
    for (const auto& each : connections_) {
      sockaddr_in address{};
      socklen_t size = sizeof(address);
      if (getsockname(each->server, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
        ports.push_back(ntohs(address.sin_port));
      }
    }
    return ports;
  }

  const std::string listen_address_;
  std::uint16_t port_ = 0;
  std::uint16_t server_port_;
  std::array<bool, 2> stalled_{};
  std::chrono::microseconds delay_{0};
  std::size_t rate_ = 0;
  std::function<void(Direction, std::string&)> filter_;
  Inspector inspector_;
  int accepted_ = 0;
  mutable std::mutex mutex_;

 private:
  void start_listening() const {
    if (listen(listener_, backlog) != 0) throw std::system_error(errno, std::generic_category(), "proxy cannot listen");
  }

  static void drop(Connection& connection) {
    close_with_reset(std::exchange(connection.client, -1));
    close_with_reset(std::exchange(connection.server, -1));
    connection.broken = true;
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      std::vector<pollfd> entries{{wake_, POLLIN, 0}, {refusing_ ? -1 : listener_, POLLIN, 0}};
      std::optional<Clock::duration> timeout;
      for (const auto& each : connections_) watch(*each, entries, timeout);
      lock.unlock();
      wait(entries, timeout);
      lock.lock();
      std::uint64_t count = 0;
      static_cast<void>(!read(wake_, &count, sizeof(count)));
      accept_all();
      // Every connection is tried, whatever poll said: what has changed meanwhile needs no further care then.
      const auto connections = connections_;
      for (const auto& each : connections) move(*each);
      std::erase_if(connections_, [](const auto& each) { return each->broken; });
    }
  }

  // Not poll(): delays are shorter than a millisecond.
  static void wait(std::vector<pollfd>& entries, const std::optional<Clock::duration>& timeout) {
    timespec time{};
    if (timeout) {
      const auto nanoseconds = std::chrono::ceil<std::chrono::nanoseconds>(*timeout).count();
      time = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    }
    ppoll(entries.data(), entries.size(), timeout ? &time : nullptr, nullptr);
  }

  void watch(const Connection& connection, std::vector<pollfd>& entries,
             std::optional<Clock::duration>& timeout) const {
    if (connection.half_open) return;
    for (std::size_t i = 0; i < connection.flows.size(); ++i) {
      const Flow& flow = connection.flows[i];
      if (stalled_[i]) continue;
      if (!flow.ended && flow.queued < queue_limit) entries.push_back({flow.from, POLLIN, 0});
      if (flow.pieces.empty()) continue;
      const Clock::duration left = flow.pieces.front().due - Clock::now();
      if (left <= Clock::duration::zero()) {
        entries.push_back({flow.to, POLLOUT, 0});
      } else if (!timeout || left < *timeout) {
        timeout = left;
      }
    }
  }

  void accept_all() {
    while (!refusing_) {
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0) return;
      ++accepted_;
      // Without blocking: a server that stands still may not even take the connection.
      const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      const sockaddr_in address = endpoint("127.0.0.1", server_port_);
      if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 && errno != EINPROGRESS) {
        close_with_reset(server);
        close_with_reset(client);
        continue;
      }
      const int yes = 1;
      setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      auto connection = std::make_shared<Connection>();
      connection->number = accepted_;
      connection->client = client;
      connection->server = server;
      connection->flows[static_cast<std::size_t>(Direction::to_server)].from = client;
      connection->flows[static_cast<std::size_t>(Direction::to_server)].to = server;
      connection->flows[static_cast<std::size_t>(Direction::to_client)].from = server;
      connection->flows[static_cast<std::size_t>(Direction::to_client)].to = client;
      connections_.push_back(std::move(connection));
    }
  }

  void move(Connection& connection) {
    for (std::size_t i = 0; i < connection.flows.size(); ++i) {
      if (connection.broken || connection.half_open || stalled_[i]) continue;
      if (!receive(connection, static_cast<Direction>(i)) || !forward(connection.flows[i])) drop(connection);
    }
  }

  // False if the connection is to end.
  bool receive(Connection& connection, Direction direction) {
    Flow& flow = connection.flows[static_cast<std::size_t>(direction)];
    while (!flow.ended && flow.queued < queue_limit) {
      const ssize_t received = recv(flow.from, buffer_.data(), buffer_.size(), 0);
      if (received < 0) return errno == EAGAIN || errno == EINTR;
      if (received == 0) {
        flow.ended = true;
        break;
      }
      std::string bytes(buffer_.data(), static_cast<std::size_t>(received));
      if (filter_) filter_(direction, bytes);
      Verdict verdict;
      if (inspector_) verdict = inspector_(connection.number, direction, bytes);
      if (verdict.cut) return false;
      if (!bytes.empty()) enqueue(flow, std::move(bytes), delay_ + verdict.delay);
    }
    return true;
  }

  void enqueue(Flow& flow, std::string bytes, std::chrono::microseconds delay) const {
    Clock::time_point due = Clock::now() + delay;
    if (rate_ != 0) {
      due = std::max(due, flow.last_due) + std::chrono::microseconds(bytes.size() * 1'000'000 / rate_);
    }
    flow.last_due = due;
    flow.queued += bytes.size();
    flow.pieces.push_back({due, std::move(bytes)});
  }

  bool forward(Flow& flow) {
    while (!flow.pieces.empty() && flow.pieces.front().due <= Clock::now()) {
      std::string& bytes = flow.pieces.front().bytes;
      const ssize_t sent = send(flow.to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      flow.queued -= static_cast<std::size_t>(sent);
      bytes.erase(0, static_cast<std::size_t>(sent));
      if (!bytes.empty()) return true;
      flow.pieces.pop_front();
    }
    // The end of one direction is the end of the connection: neither ZooKeeper nor its clients half-close.
    return !flow.ended || !flow.pieces.empty();
  }

  const int wake_;
  const int listener_;
  bool refusing_ = false;
  bool stop_ = false;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<char> buffer_ = std::vector<char>(chunk_size);
  std::thread thread_;
};

TcpProxy::TcpProxy(std::uint16_t server_port, std::string listen_address)
    : loop_(std::make_unique<Loop>(server_port, std::move(listen_address))) {}

TcpProxy::~TcpProxy() = default;

const std::string& TcpProxy::listen_address() const {
  return loop_->listen_address_;
}

std::uint16_t TcpProxy::port() const {
  return loop_->port_;
}

void TcpProxy::set_server_port(std::uint16_t port) {
  loop_->with_lock([&] { loop_->server_port_ = port; });
}

void TcpProxy::cut_connections() {
  loop_->cut();
}

void TcpProxy::refuse(bool on) {
  loop_->refuse(on);
}

void TcpProxy::half_cut(Direction silent, bool on) {
  loop_->half_cut(silent, on);
}

void TcpProxy::stall(Direction direction, bool on) {
  loop_->with_lock([&] { loop_->stalled_[static_cast<std::size_t>(direction)] = on; });
}

void TcpProxy::set_delay(std::chrono::microseconds delay) {
  loop_->with_lock([&] { loop_->delay_ = delay; });
}

void TcpProxy::set_filter(std::function<void(Direction, std::string&)> filter) {
  loop_->with_lock([&] { loop_->filter_ = std::move(filter); });
}

void TcpProxy::set_rate(std::size_t bytes_per_second) {
  loop_->with_lock([&] { loop_->rate_ = bytes_per_second; });
}

void TcpProxy::set_inspector(Inspector inspector) {
  loop_->with_lock([&] { loop_->inspector_ = std::move(inspector); });
}

std::vector<std::uint16_t> TcpProxy::near_ports() const {
  return loop_->near_ports();
}

int TcpProxy::connections_accepted() const {
  std::lock_guard lock(loop_->mutex_);
  return loop_->accepted_;
}

}  // namespace forelock::test
