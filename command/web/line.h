// A Line is the stream of bytes of a connection: a socket, with TLS over it or without.
#pragma once

// Beast uses std::exchange without including it, which C++20 no longer does by other ways.
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <optional>

namespace forelock::web {

// An AsyncReadStream and an AsyncWriteStream.
class Line {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;

  explicit Line(Socket socket) : socket_(std::move(socket)) {}

  executor_type get_executor() { return socket_.get_executor(); }
  bool is_open() const { return socket_.is_open(); }
  bool is_tls() const { return tls_.has_value(); }
  // What is below TLS.
  Socket& socket() { return socket_; }

  // Before the first use of tls().
  void use_tls(std::shared_ptr<boost::asio::ssl::context> context) {
    context_ = std::move(context);
    tls_.emplace(socket_, *context_);
  }
  boost::asio::ssl::stream<Socket&>& tls() { return *tls_; }

  template <class Buffers, class Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Handler>(handler));
    return socket_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <class Buffers, class Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_write_some(buffers, std::forward<Handler>(handler));
    return socket_.async_write_some(buffers, std::forward<Handler>(handler));
  }

 private:
  Socket socket_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

}  // namespace forelock::web
