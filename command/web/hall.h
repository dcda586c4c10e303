// A Hall is what the connections of a server share. For the server's thread alone.
#pragma once

// Beast uses std::exchange without including it, which C++20 no longer does by other ways.
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <set>
#include <thread>

#include "web/event_log.h"
#include "web/request_check.h"
#include "web/server.h"

namespace forelock::web {

class Connection;

class Server::Hall {
 public:
  Hall(ServerOptions options, Site& site);

  void accept();
  void tick();
  void close_all();
  // What a stream begins with, as the stream carries it: streams that begin in the same moment share it.
  std::shared_ptr<const std::string> snapshot();
  // What has changed of the files of TLS counts from now on.
  void renew_tls();

  const ServerOptions options;
  Site& site;
  boost::asio::io_context io{1};
  boost::asio::ip::tcp::acceptor acceptor{io};
  boost::asio::steady_timer ticker{io};
  boost::asio::steady_timer accept_again{io};
  HostNames hosts;
  Admins admins;
  EventLog events;
  std::shared_ptr<boost::asio::ssl::context> tls;  // null: without
  TlsText tls_text;
  bool tls_failed = false;
  std::weak_ptr<const std::string> snapshot_;  // the last one, while a stream sends it
  std::uint64_t snapshot_number_ = 0;
  std::chrono::steady_clock::time_point snapshot_made_{};
  std::set<Connection*> connections;
  std::set<Connection*> streams;
  std::thread thread;
};

}  // namespace forelock::web
