// A Connection is one client of a server.
#pragma once

// Beast uses std::exchange without including it, which C++20 no longer does by other ways.
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "web/hall.h"
#include "web/line.h"

namespace forelock::web {

// Lives as long as something is under way for it. For the server's thread alone.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, Server::Hall& hall);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void close();
  // Of a stream: sends what it has not sent yet.
  void send_events();

 private:
  struct Refusal {
    unsigned status;
    const char* code;
    const char* message;
  };
  using Reply = boost::beast::http::response<boost::beast::http::string_body>;

  using Header = boost::beast::http::request<boost::beast::http::string_body>;

  // Begins TLS, if that is what comes.
  void look_for_tls();
  void shake_hands();
  void read_header();
  // The deadline is set.
  void await_header();
  void take_header(std::string_view header);
  // The admin for whom a proxy asks; nothing if it is none, or no proxy that is believed.
  std::optional<std::string> user_of_proxy(const Header& header);
  // A request that is to change something. `length`: of its body, if it has said one.
  void take_act(const Header& header, std::optional<std::uint64_t> length, Request request);
  std::optional<Refusal> refusal_of_act(const Header& header, std::optional<std::uint64_t> length,
                                        const Request& request);
  void read_body(std::size_t length, Request request);
  void act(const Request& request);
  std::function<void(Response)> later(bool head);
  void answer(const Request& request, bool head, std::string_view last_event_id);
  void refuse(const Refusal& refusal);
  void send(unsigned status, const std::string& type, std::string body, bool head);
  void sent();
  void end_sending();
  // Lets what the client still sends go by, so that it gets our answer and no reset.
  void drain();
  void begin_stream(std::string_view last_event_id, bool head);
  void write_stream(std::shared_ptr<const std::string> text);
  void watch_for_end();
  void beat();
  // Closes unless it is set anew before.
  void set_deadline(std::chrono::milliseconds patience);

  Line line_;
  Server::Hall& hall_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer heart_;
  std::string input_;
  boost::beast::flat_buffer first_bytes_{Server::max_header_bytes};
  std::shared_ptr<Reply> reply_;
  bool keep_alive_ = false;
  std::optional<bool> is_proxy_;  // once that was asked
  std::size_t drained_ = 0;

  bool is_stream_ = false;
  bool writing_ = false;
  bool needs_snapshot_ = false;
  std::uint64_t number_ = 0;  // of the last event that it has been sent
  std::shared_ptr<const std::string> output_;
  char ignored_[512] = {};
};

}  // namespace forelock::web
