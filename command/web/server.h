// A Server shows a Site by HTTP/1.1, to browsers and programs that read; those whom it knows may also act.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "web/admins.h"
#include "web/site.h"

namespace forelock::web {

// PEM.
struct TlsText {
  std::string certificate;         // with those between it and its authority behind it
  std::string key;                 // of that certificate, not encrypted
  std::string client_authorities;  // empty: clients need no certificate; else one of these

  bool operator==(const TlsText&) const = default;
};

// One before this server, on this machine, that has found out who asks. Its header is believed where the connection
// comes from a loopback address and belongs to a process of this user, and not otherwise.
struct Proxy {
  std::string header;  // with the name of an admin
  uid_t owner = 0;
};

struct ServerOptions {
  std::string address = "127.0.0.1";            // numeric
  std::uint16_t port = 0;                       // 0: a free one
  std::vector<std::string> host_names;          // besides the address and localhost
  std::size_t max_connections = 1000;           // what is beyond is closed at once
  std::chrono::milliseconds patience{15'000};   // with a request's header, and between requests
  std::chrono::milliseconds heartbeat{15'000};  // of streams in which nothing happens
  std::vector<Admin> admins;                    // who may act; none: nobody, and POST is refused
  // A proxy that says who asks; nothing: none is believed.
  std::optional<Proxy> proxy = {};
  // With it every connection is TLS. Asked once a second, on the server's thread: what has changed counts for later
  // connections. Throws where the files cannot be read, which goes to `tls_problem`, once; the former ones stay.
  std::function<TlsText()> tls;
  std::function<void(const std::string&)> tls_problem;
};

// All connections are served by one thread. Bounded: header 16 KiB, and what one takes from it in a time.
// Refused, with a status and {"error":{"code","message"}}: methods other than GET and HEAD, and with admins POST (405);
// GET with a body (400; above 64 KiB 413); without exactly one Host (400) or with a foreign one (421), folded headers,
// dubious paths (400), headers that are too long (431). An act without a valid token (401; too many of them 429), from
// a page of another site or without the CSRF token (403), that is no JSON (415), without a length (411), of more than
// 30 in a minute (429).
class Server {
 public:
  static constexpr std::size_t max_header_bytes = 16 * 1024;
  static constexpr std::size_t max_body_bytes = 64 * 1024;

  // Listens. The site must outlive it. \throws std::system_error if that address is not to be had; what
  // ServerOptions::tls does, and std::runtime_error if that cannot be used.
  Server(ServerOptions options, Site& site);
  // As stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;

  // Begins to serve.
  void start();
  // Closes all connections and waits for the thread; idempotent. Not on its thread.
  void stop();

  // Runs it on the server's thread, in order; never after stop(). Any thread.
  void post(std::function<void()> action);
  // Sends an event to all streams. On the server's thread alone.
  void publish(const Event& event);
  // The id of the last one. On the server's thread alone.
  std::string last_event() const;
  // How many connections there are, and how many of them are streams. On the server's thread alone.
  std::size_t connections() const;
  std::size_t streams() const;

  class Hall;

 private:
  std::unique_ptr<Hall> hall_;
};

// Whether this numeric address is of this machine alone. Nothing is looked up; false for what is no address.
bool is_loopback(const std::string& address);

}  // namespace forelock::web
