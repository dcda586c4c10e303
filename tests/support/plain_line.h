// A PlainLine is a connection to a port of this machine, as a test of a server needs it.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "support/standard.h"

namespace forelock::test {

class PlainLine {
 public:
  explicit PlainLine(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{30, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("connect");
  }
  ~PlainLine() { ::close(socket_); }
  PlainLine(const PlainLine&) = delete;
  PlainLine& operator=(const PlainLine&) = delete;

  void send(const std::string& text) const {
    if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("send");
  }
  // What has come by the time that `end` has, or the connection's end.
  std::string until(const std::string& end) {
    std::size_t at = 0;
    while ((at = received_.find(end)) == std::string::npos && more()) {
    }
    const std::size_t size = at == std::string::npos ? received_.size() : at + end.size();
    std::string text = received_.substr(0, size);
    received_.erase(0, size);
    return text;
  }
  std::string rest() {
    while (more()) {
    }
    return std::exchange(received_, {});
  }

 private:
  bool more() {
    char part[4096];
    const ssize_t size = recv(socket_, part, sizeof part, 0);
    if (size > 0) received_.append(part, static_cast<std::size_t>(size));
    return size > 0;
  }

  int socket_;
  std::string received_;
};

}  // namespace forelock::test
