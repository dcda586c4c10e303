#include "web/connection.h"

#include <algorithm>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/write.hpp>
#include <nlohmann/json.hpp>

#include "web/peer_owner.h"

namespace forelock::web {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

using boost::system::error_code;

constexpr std::chrono::milliseconds write_patience{30'000};
constexpr std::chrono::milliseconds drain_patience{2'000};
constexpr std::chrono::milliseconds act_patience{60'000};
constexpr std::size_t stream_piece_bytes = 256 * 1024;

// Scripts and styles come from this server alone, and nothing that a lock's owner has written can become one.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

template <class Fields>
void set_common(Fields& fields) {
  fields.set("Cache-Control", "no-store");
  fields.set("Content-Security-Policy", content_policy);
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("X-Content-Type-Options", "nosniff");
}

std::string_view view_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

bool names_token(std::string_view authorization) {
  return authorization.starts_with("Bearer");
}

std::string error_json(const char* code, const char* message) {
  return nlohmann::ordered_json{{"error", {{"code", code}, {"message", message}}}}.dump() + '\n';
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, Server::Hall& hall)
    : line_(std::move(socket)), hall_(hall), deadline_(hall.io), heart_(hall.io) {
  hall_.connections.insert(this);
}

Connection::~Connection() {
  hall_.connections.erase(this);
  hall_.streams.erase(this);
}

void Connection::start() {
  set_deadline(hall_.options.patience);
  if (hall_.tls) return look_for_tls();
  read_header();
}

// Whoever speaks HTTP to a port of TLS is told so in words that he understands.
void Connection::look_for_tls() {
  boost::beast::async_detect_ssl(
      line_.socket(), first_bytes_, [self = shared_from_this()](error_code problem, bool is_tls) {
        if (problem) return self->close();
        if (is_tls) return self->shake_hands();
        self->refuse({400, "tls_required", "this port speaks TLS: the address begins with https://"});
      });
}

// The deadline is that of the first header: silence in the middle gains no time.
void Connection::shake_hands() {
  line_.use_tls(hall_.tls);
  line_.tls().async_handshake(boost::asio::ssl::stream_base::server, first_bytes_.data(),
                              [self = shared_from_this()](error_code problem, std::size_t used) {
                                if (problem) return self->close();
                                self->first_bytes_.consume(used);
                                self->await_header();
                              });
}

void Connection::close() {
  hall_.streams.erase(this);
  deadline_.cancel();
  heart_.cancel();
  error_code ignored;
  line_.socket().close(ignored);
}

void Connection::set_deadline(std::chrono::milliseconds patience) {
  deadline_.expires_after(patience);
  deadline_.async_wait([self = shared_from_this()](error_code stopped) {
    if (!stopped) self->close();
  });
}

// One deadline for all of it: a header that comes byte by byte gains no time.
void Connection::read_header() {
  set_deadline(hall_.options.patience);
  await_header();
}

void Connection::await_header() {
  asio::async_read_until(line_, asio::dynamic_buffer(input_, Server::max_header_bytes), "\r\n\r\n",
                         [self = shared_from_this()](error_code problem, std::size_t size) {
                           if (problem == asio::error::not_found) {
                             self->refuse({431, "header_too_long", "the request's header is longer than 16 KiB"});
                           } else if (problem) {
                             self->close();
                           } else {
                             const std::string header = self->input_.substr(0, size);
                             self->input_.erase(0, size);
                             self->take_header(header);
                           }
                         });
}

void Connection::take_header(std::string_view header) {
  keep_alive_ = false;
  if (has_doubtful_lines(header))
    return refuse({400, "bad_request", "the header has folded lines, control characters or bare line ends"});
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(Server::max_header_bytes));
  parser.body_limit(Server::max_body_bytes);
  error_code problem;
  parser.put(asio::buffer(header.data(), header.size()), problem);
  if (problem == http::error::body_limit)
    return refuse({413, "body_too_long", "the request's body is longer than 64 KiB"});
  if ((problem && problem != http::error::need_more) || !parser.is_header_done())
    return refuse({400, "bad_request", "that is not a request of HTTP/1.1"});
  const auto& request = parser.get();
  if (request.count(http::field::host) != 1)
    return refuse({400, "bad_request", "a request names its server in one Host header"});
  if (!hall_.hosts.allows(view_of(request[http::field::host])))
    return refuse({421, "foreign_host", "this server does not answer under that name; --allow-host permits one"});
  const bool head = request.method() == http::verb::head;
  const bool acts = request.method() == http::verb::post && !hall_.admins.none();
  if (!head && !acts && request.method() != http::verb::get)
    return refuse({405, "method_not_allowed", "only GET and HEAD are served here"});
  std::optional<std::uint64_t> length;
  if (parser.content_length()) length = *parser.content_length();
  if (request.count(http::field::transfer_encoding) > 0 || (!acts && length.value_or(0) > 0))
    return refuse({400, "bad_request", "a request without a body is expected, or with a length if it acts"});
  const std::optional<Target> target = parse_target(view_of(request.target()));
  if (!target) return refuse({400, "bad_request", "the path is invalid"});
  Request asked{target->path, target->query, {}, {}, {}};
  const std::string_view accept = view_of(request[http::field::accept]);
  asked.wants_json = accept.find("application/json") != accept.npos && accept.find("text/html") == accept.npos;
  const bool with_token = names_token(view_of(request[http::field::authorization]));
  const auto proxied = with_token ? std::nullopt : user_of_proxy(request);
  if (!hall_.admins.none() && (acts || with_token || proxied)) {
    const auto who = proxied ? proxied
                     : request.count(http::field::authorization) == 1
                         ? hall_.admins.who(view_of(request[http::field::authorization]))
                         : std::nullopt;
    if (!who && !hall_.admins.failures.take())
      return refuse({429, "too_many_requests", "too many requests without a valid token; wait a minute"});
    if (!who) return refuse({401, "not_authorized", "that needs the token of an admin, in the header Authorization"});
    asked.admin = *who;
    asked.csrf = hall_.admins.csrf();
  }
  keep_alive_ = request.keep_alive();
  if (acts) return take_act(request, length, std::move(asked));
  answer(asked, head, view_of(request["Last-Event-ID"]));
}

// What others send under that name says nothing: they are nobody. Two of them are of two minds.
std::optional<std::string> Connection::user_of_proxy(const Header& header) {
  const auto& proxy = hall_.options.proxy;
  if (!proxy || header.count(proxy->header) != 1) return std::nullopt;
  if (!is_proxy_) {
    error_code problem;
    const auto local = line_.socket().local_endpoint(problem);
    const auto remote = problem ? decltype(local)() : line_.socket().remote_endpoint(problem);
    is_proxy_ = !problem && owner_of_peer(local, remote) == proxy->owner;
  }
  return *is_proxy_ ? hall_.admins.named(view_of(header[proxy->header])) : std::nullopt;
}

// A browser lets a page of another site send a POST, but not with these headers, and says whose page it is.
std::optional<Connection::Refusal> Connection::refusal_of_act(const Header& header, std::optional<std::uint64_t> length,
                                                              const Request& request) {
  const std::string_view origin = view_of(header[http::field::origin]);
  const std::string_view site = view_of(header["Sec-Fetch-Site"]);
  if ((header.count(http::field::origin) > 0 && !is_own_origin(origin, view_of(header[http::field::host]))) ||
      (!site.empty() && site != "same-origin" && site != "none"))
    return Refusal{403, "foreign_origin", "a page of another site may not act here"};
  if (!hall_.admins.is_csrf(view_of(header["X-Forelock-CSRF"])))
    return Refusal{403, "csrf", "the header X-Forelock-CSRF is not that of /api/admin"};
  if (view_of(header[http::field::content_type]) != "application/json")
    return Refusal{415, "unsupported_media_type", "an act is application/json"};
  if (!length) return Refusal{411, "length_required", "an act says the length of its body"};
  if (!request.query.empty()) return Refusal{400, "bad_request", "an act has no query"};
  if (!hall_.admins.acts.take()) return Refusal{429, "too_many_requests", "too many acts; wait a minute"};
  return std::nullopt;
}

void Connection::take_act(const Header& header, std::optional<std::uint64_t> length, Request request) {
  if (const auto refusal = refusal_of_act(header, length, request)) return refuse(*refusal);
  read_body(static_cast<std::size_t>(*length), std::move(request));  // the parser has bounded it
}

// The deadline is still that of the header.
void Connection::read_body(std::size_t length, Request request) {
  const std::size_t missing = length - std::min(length, input_.size());
  asio::async_read(
      line_, asio::dynamic_buffer(input_), asio::transfer_exactly(missing),
      [self = shared_from_this(), length, request = std::move(request)](error_code problem, std::size_t) mutable {
        if (problem) return self->close();
        request.body = self->input_.substr(0, length);
        self->input_.erase(0, length);
        self->act(request);
      });
}

// Who answers may forget it on another thread: this connection lives by its deadline meanwhile.
std::function<void(Response)> Connection::later(bool head) {
  set_deadline(act_patience);
  return [weak = weak_from_this(), head](Response response) {
    const auto self = weak.lock();
    if (self && self->line_.is_open()) self->send(response.status, response.type, std::move(response.body), head);
  };
}

void Connection::act(const Request& request) {
  hall_.site.act(request, later(false));
}

void Connection::answer(const Request& request, bool head, std::string_view last_event_id) {
  Response response;
  try {
    if (hall_.site.answer_later(request, later(head))) return;
    response = hall_.site.answer(request);
  } catch (const std::exception&) {
    keep_alive_ = false;
    response = {500, "application/json", error_json("internal", "the request failed"), false};
  }
  if (response.events) return begin_stream(last_event_id, head);
  send(response.status, response.type, std::move(response.body), head);
}

// What follows it on this connection cannot be trusted to be a request.
void Connection::refuse(const Refusal& refusal) {
  keep_alive_ = false;
  send(refusal.status, "application/json", error_json(refusal.code, refusal.message), false);
}

void Connection::send(unsigned status, const std::string& type, std::string body, bool head) {
  reply_ = std::make_shared<Reply>(static_cast<http::status>(status), 11);
  set_common(*reply_);
  reply_->set(http::field::content_type, type);
  if (status == 405) reply_->set(http::field::allow, hall_.admins.none() ? "GET, HEAD" : "GET, HEAD, POST");
  if (status == 401) reply_->set(http::field::www_authenticate, "Bearer");
  reply_->content_length(body.size());
  reply_->keep_alive(keep_alive_);
  if (!head) reply_->body() = std::move(body);
  set_deadline(write_patience);
  http::async_write(line_, *reply_, [self = shared_from_this()](error_code problem, std::size_t) {
    if (problem) {
      self->close();
    } else {
      self->sent();
    }
  });
}

void Connection::sent() {
  reply_.reset();
  if (keep_alive_) return read_header();
  set_deadline(drain_patience);
  if (!line_.is_tls()) return end_sending();
  // Without this end of TLS a client could not tell ours from one that was cut off.
  line_.tls().async_shutdown([self = shared_from_this()](error_code) { self->end_sending(); });
}

void Connection::end_sending() {
  error_code ignored;
  line_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  drain();
}

void Connection::drain() {
  line_.socket().async_read_some(asio::buffer(ignored_),
                                 [self = shared_from_this()](error_code problem, std::size_t size) {
                                   self->drained_ += size;
                                   if (problem || self->drained_ > Server::max_body_bytes) {
                                     self->close();
                                   } else {
                                     self->drain();
                                   }
                                 });
}

void Connection::begin_stream(std::string_view last_event_id, bool head) {
  Reply begin(http::status::ok, 11);
  set_common(begin);
  begin.set(http::field::content_type, "text/event-stream");
  begin.keep_alive(false);  // the connection's end is the body's
  std::string text = "HTTP/1.1 200 OK\r\n";
  for (const auto& field : begin) text += std::string(field.name_string()) + ": " + std::string(field.value()) + "\r\n";
  text += "\r\n";
  keep_alive_ = false;
  if (!head) {
    const std::optional<std::uint64_t> number = hall_.events.number_of(last_event_id);
    needs_snapshot_ = !number;
    number_ = number.value_or(0);
    is_stream_ = true;
    hall_.streams.insert(this);
    watch_for_end();
    beat();
  }
  write_stream(std::make_shared<const std::string>(std::move(text)));
}

void Connection::send_events() {
  if (writing_ || !is_stream_ || !line_.is_open()) return;
  if (!needs_snapshot_) {
    if (std::optional<std::string> text = hall_.events.after(number_, stream_piece_bytes)) {
      if (!text->empty()) write_stream(std::make_shared<const std::string>(*std::move(text)));
      return;
    }
  }
  needs_snapshot_ = false;
  number_ = hall_.events.last();
  write_stream(hall_.snapshot());
}

void Connection::write_stream(std::shared_ptr<const std::string> text) {
  writing_ = true;
  output_ = std::move(text);
  set_deadline(write_patience);
  asio::async_write(line_, asio::buffer(*output_), [self = shared_from_this()](error_code problem, std::size_t) {
    self->writing_ = false;
    self->output_.reset();
    self->deadline_.cancel();
    if (problem) {
      self->close();
    } else if (self->is_stream_) {
      self->send_events();
    } else {
      self->sent();
    }
  });
}

// A stream's client has nothing more to say: what comes is not read, but its end is.
void Connection::watch_for_end() {
  line_.async_read_some(asio::buffer(ignored_),
                        [self = shared_from_this()](error_code, std::size_t) { self->close(); });
}

void Connection::beat() {
  heart_.expires_after(hall_.options.heartbeat);
  heart_.async_wait([self = shared_from_this()](error_code stopped) {
    if (stopped) return;
    if (!self->writing_) self->write_stream(std::make_shared<const std::string>(": heartbeat\n\n"));
    self->beat();
  });
}

}  // namespace forelock::web
