#include "integration/fenced_resource.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace forelock::test {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

void without_delay(int connection) {
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

FencedResource::FencedResource() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 64) != 0 || getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      pipe2(wake_, O_CLOEXEC) != 0) {
    fail("resource");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

FencedResource::~FencedResource() {
  close(wake_[1]);
  thread_.join();
  close(wake_[0]);
  close(listener_);
}

std::vector<std::string> FencedResource::overlaps() const {
  const std::lock_guard guard(mutex_);
  return overlaps_;
}

std::size_t FencedResource::stale() const {
  const std::lock_guard guard(mutex_);
  return stale_;
}

std::vector<FencedResource::Visit> FencedResource::visits() const {
  const std::lock_guard guard(mutex_);
  return visits_;
}

std::size_t FencedResource::entered() const {
  const std::lock_guard guard(mutex_);
  return visits_.size();
}

void FencedResource::run() {
  while (true) {
    std::vector<pollfd> waiting = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& [connection, visitor] : visitors_) waiting.push_back({connection, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) break;
    // Whoever has left is heard before somebody new: a visit ends before another one can begin.
    for (std::size_t i = 2; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0 || serve(waiting[i].fd)) continue;
      close(waiting[i].fd);
      visitors_.erase(waiting[i].fd);
    }
    if (waiting[1].revents != 0) accept_visitor();
  }
  for (const auto& [connection, visitor] : visitors_) close(connection);
}

void FencedResource::accept_visitor() {
  const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return;
  without_delay(connection);
  visitors_.emplace(connection, Visitor{});
}

bool FencedResource::serve(int connection) {
  Visitor& visitor = visitors_.at(connection);
  char buffer[512];
  const ssize_t got = recv(connection, buffer, sizeof(buffer), 0);
  if (got <= 0) {
    const std::lock_guard guard(mutex_);
    leave(visitor, true);
    return false;
  }
  visitor.unread.append(buffer, static_cast<std::size_t>(got));
  for (auto end = visitor.unread.find('\n'); end != std::string::npos; end = visitor.unread.find('\n')) {
    const std::string reply = answer(visitor, visitor.unread.substr(0, end)) + "\n";
    visitor.unread.erase(0, end + 1);
    if (send(connection, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) continue;  // the next recv tells
  }
  return true;
}

std::string FencedResource::answer(Visitor& visitor, const std::string& line) {
  std::istringstream words(line);
  std::string what;
  Visit visit;
  words >> what >> visit.who >> visit.token;
  visit.entered = std::chrono::steady_clock::now();
  const std::lock_guard guard(mutex_);
  if (what == "leave") {
    leave(visitor, false);
    return "ok";
  }
  if (visit.token <= highest_token_) {
    ++stale_;
    return "stale";
  }
  highest_token_ = visit.token;
  for (const std::size_t other : inside_) {
    overlaps_.push_back(visit.who + " (token " + std::to_string(visit.token) + ") entered while " + visits_[other].who +
                        " (token " + std::to_string(visits_[other].token) + ") was inside");
  }
  visitor.visit = visits_.size();
  inside_.push_back(visits_.size());
  visits_.push_back(std::move(visit));
  return "ok";
}

void FencedResource::leave(Visitor& visitor, bool killed) {
  if (!visitor.visit) return;
  Visit& visit = visits_[*visitor.visit];
  visit.left = std::chrono::steady_clock::now();
  visit.killed = killed;
  std::erase(inside_, *visitor.visit);
  visitor.visit.reset();
}

ResourceVisitor::ResourceVisitor(std::uint16_t port, std::string who) : who_(std::move(who)) {
  connection_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (connection_ < 0) fail("visitor");
  if (connect(connection_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(connection_);
    fail("visitor");
  }
  without_delay(connection_);
}

ResourceVisitor::~ResourceVisitor() {
  close(connection_);
}

bool ResourceVisitor::enter(std::int64_t token) {
  return ask("enter " + who_ + " " + std::to_string(token)) == "ok";
}

void ResourceVisitor::leave() {
  ask("leave");
}

std::string ResourceVisitor::ask(const std::string& line) {
  const std::string request = line + "\n";
  if (send(connection_, request.data(), request.size(), MSG_NOSIGNAL) < 0) fail("resource");
  std::string reply;
  char byte = 0;
  while (recv(connection_, &byte, 1, 0) == 1) {
    if (byte == '\n') return reply;
    reply += byte;
  }
  fail("resource");
}

}  // namespace forelock::test
