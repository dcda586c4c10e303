#include "web/server.h"

#include <boost/asio/post.hpp>
#include <random>

#include "base/thread_start.h"
#include "web/connection.h"
#include "web/hall.h"
#include "web/tls.h"

namespace forelock::web {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds tick_interval{1};
constexpr std::chrono::milliseconds accept_pause{100};
// The ages in it are no more wrong than this.
constexpr std::chrono::milliseconds shared_snapshot_age{200};

std::string new_run() {
  std::random_device random;
  constexpr char digits[] = "0123456789abcdef";
  std::string run;
  for (int i = 0; i < 8; ++i) run += digits[random() % 16];
  return run;
}

}  // namespace

Server::Hall::Hall(ServerOptions given, Site& shown)
    : options(std::move(given)), site(shown), admins(options.admins), events(new_run()) {
  if (options.tls) {
    tls_text = options.tls();
    tls = make_tls(tls_text);
  }
  try {
    const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(options.address), options.port);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(asio::socket_base::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
  } catch (const boost::system::system_error& problem) {
    throw std::system_error(std::error_code(problem.code()));
  }
  hosts.allow(options.address);
  hosts.allow("localhost");
  for (const std::string& name : options.host_names) hosts.allow(name);
}

void Server::Hall::accept() {
  acceptor.async_accept([this](boost::system::error_code problem, asio::ip::tcp::socket socket) {
    if (problem == asio::error::operation_aborted) return;
    if (problem) {  // out of descriptors, say: that passes
      accept_again.expires_after(accept_pause);
      accept_again.async_wait([this](boost::system::error_code stopped) {
        if (!stopped) accept();
      });
      return;
    }
    if (connections.size() < options.max_connections) std::make_shared<Connection>(std::move(socket), *this)->start();
    accept();
  });
}

void Server::Hall::tick() {
  ticker.expires_after(tick_interval);
  ticker.async_wait([this](boost::system::error_code stopped) {
    if (stopped) return;
    site.tick();
    renew_tls();
    tick();
  });
}

std::shared_ptr<const std::string> Server::Hall::snapshot() {
  const auto now = std::chrono::steady_clock::now();
  std::shared_ptr<const std::string> text = snapshot_.lock();
  if (text && snapshot_number_ == events.last() && now < snapshot_made_ + shared_snapshot_age) return text;
  text = std::make_shared<const std::string>(events.text_of(site.snapshot(), events.last()));
  snapshot_ = text;
  snapshot_number_ = events.last();
  snapshot_made_ = now;
  return text;
}

void Server::Hall::renew_tls() {
  if (!options.tls) return;
  try {
    TlsText text = options.tls();
    if (text != tls_text) {
      tls = make_tls(text);
      tls_text = std::move(text);
    }
    tls_failed = false;
  } catch (const std::exception& problem) {
    if (!std::exchange(tls_failed, true) && options.tls_problem) options.tls_problem(problem.what());
  }
}

void Server::Hall::close_all() {
  boost::system::error_code ignored;
  acceptor.close(ignored);
  ticker.cancel();
  accept_again.cancel();
  const std::set<Connection*> all = connections;
  for (Connection* connection : all) connection->close();
}

Server::Server(ServerOptions options, Site& site) : hall_(std::make_unique<Hall>(std::move(options), site)) {}

Server::~Server() {
  stop();
}

std::uint16_t Server::port() const {
  return hall_->acceptor.local_endpoint().port();
}

void Server::start() {
  hall_->accept();
  hall_->tick();
  hall_->thread = base::start_thread("forelock-web", [this] { hall_->io.run(); });
}

void Server::stop() {
  if (!hall_->thread.joinable()) return;
  post([this] { hall_->close_all(); });
  hall_->thread.join();
}

void Server::post(std::function<void()> action) {
  asio::post(hall_->io, std::move(action));
}

void Server::publish(const Event& event) {
  hall_->events.add(event);
  const std::set<Connection*> all = hall_->streams;
  for (Connection* stream : all) stream->send_events();
}

std::string Server::last_event() const {
  return hall_->events.last_id();
}

std::size_t Server::connections() const {
  return hall_->connections.size();
}

std::size_t Server::streams() const {
  return hall_->streams.size();
}

bool is_loopback(const std::string& address) {
  boost::system::error_code problem;
  const auto parsed = asio::ip::make_address(address, problem);
  return !problem && parsed.is_loopback();
}

}  // namespace forelock::web
