#include "support/visit_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace forelock::test {
namespace {

[[noreturn]] void fail_at(int error, const std::filesystem::path& socket) {
  throw std::system_error(error, std::generic_category(), socket.string());
}

// A new socket, and what `at` does with it (bind, connect).
template <class At>
int open_at(const std::filesystem::path& path, const At& at) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path)) fail_at(ENAMETOOLONG, path);
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  const int opened = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (opened >= 0 && at(opened, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return opened;
  const int error = errno;
  close(opened);
  fail_at(error, path);
}

}  // namespace

VisitServer::VisitServer(std::filesystem::path socket, Answer answer, Gone gone)
    : socket_(std::move(socket)),
      answer_(std::move(answer)),
      gone_(std::move(gone)),
      listener_(open_at(socket_, &bind)) {
  if (listen(listener_, 128) != 0 || pipe2(wake_, O_CLOEXEC) != 0) fail_at(errno, socket_);
  thread_ = std::thread([this] { run(); });
}

VisitServer::~VisitServer() {
  close(wake_[1]);
  thread_.join();
  close(wake_[0]);
  close(listener_);
}

void VisitServer::run() {
  std::set<int> visitors;
  while (true) {
    std::vector<pollfd> waiting = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const int visitor : visitors) waiting.push_back({visitor, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) break;
    for (std::size_t i = 2; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0 || serve(waiting[i].fd)) continue;
      gone_(waiting[i].fd);
      visitors.erase(waiting[i].fd);
      close(waiting[i].fd);
    }
    if (waiting[1].revents == 0) continue;
    const int visitor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (visitor >= 0) visitors.insert(visitor);
  }
  for (const int visitor : visitors) close(visitor);
}

// False if the connection has ended.
bool VisitServer::serve(int visitor) {
  char buffer[1024];
  const ssize_t got = recv(visitor, buffer, sizeof(buffer), 0);
  if (got <= 0) return false;
  const std::string reply = answer_(visitor, std::string(buffer, static_cast<std::size_t>(got)));
  send(visitor, reply.data(), reply.size(), MSG_NOSIGNAL);  // if it has left, the next recv() tells
  return true;
}

VisitConnection::VisitConnection(const std::filesystem::path& socket) : connection_(open_at(socket, &connect)) {}

VisitConnection::~VisitConnection() {
  close(connection_);
}

std::string VisitConnection::ask(std::string_view request) {
  char answer[64];
  ssize_t received = -1;
  if (send(connection_, request.data(), request.size(), MSG_NOSIGNAL) >= 0) {
    do {
      received = recv(connection_, answer, sizeof(answer), 0);
    } while (received < 0 && errno == EINTR);
  }
  if (received <= 0) throw std::system_error(received < 0 ? errno : EPIPE, std::generic_category(), "resource");
  return {answer, static_cast<std::size_t>(received)};
}

}  // namespace forelock::test
