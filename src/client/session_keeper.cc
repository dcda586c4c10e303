#include "client/session_keeper.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"
#include "client/session_setup.h"
#include "records/start_thread.h"
#include "zookeeper/probe.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::client {

using coordination::SessionEvent;

namespace {

// Servers that move get new addresses: looked up again now and then even while all is well.
constexpr std::chrono::seconds address_check_interval{60};
constexpr std::chrono::milliseconds stuck_check_interval{1000};
// How soon a connection that is not there is looked into, and how long that may take for each server.
constexpr std::chrono::milliseconds first_look{250};
constexpr std::chrono::milliseconds connect_probe_limit{500};
// Between sessions that are refused, each of which costs the servers a write, or cannot be made.
constexpr std::chrono::milliseconds least_pause{250};
// It becomes twice as long from one to the next, so that a wrong password is not tried for ever as often as at first.
constexpr std::chrono::milliseconds longest_pause{30'000};
constexpr int most_doublings = 10;

// What an attempt to connect to a server meets, for messages: the ZooKeeper client itself says nothing of it.
// `serves`: set if it gives sessions, to others.
std::string unreachable(const zookeeper::ResolvedServer& server, const zookeeper::TlsContext* tls, bool& serves) {
  std::string problem = server.addresses.error;
  for (const std::string& numeric : server.addresses.numeric) {
    const auto probe =
        zookeeper::probe_session(numeric, server.server.port, connect_probe_limit, {tls, server.server.host});
    problem = !probe.connected ? probe.error
              : tls == nullptr ? "takes connections, but no session (is this a port for TLS?): is it serving?"
                               : "takes connections, but no session: is it serving?";
    if (probe.serves) problem = "serves others, but has not taken this client's session yet";
    if (probe.foreign) problem = "is no ZooKeeper server's port (is it one for TLS, or another service's?)";
    serves = serves || probe.serves;
    if (probe.connected) break;
  }
  return zookeeper::to_string(server.server) + ": " + problem;
}

}  // namespace

// One session and the ensemble that listens to it, as long as it is the present one.
class SessionLink final : public coordination::SessionListener {
 public:
  SessionLink(EnsembleLink& ensemble, SessionKeeper& keeper, const zookeeper::SessionOptions& options)
      : ensemble_(ensemble), keeper_(keeper), session_(options, *this) {}

  zookeeper::ZooKeeperSession& session() { return session_; }
  // A server has once given the session.
  bool established() const { return established_.load(); }
  bool expired() const { return expired_.load(); }
  // From here on the session's end is of no interest any more, only the replies to requests beside the protocol.
  void retire() { current_.store(false); }

  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override {
    ensemble_.on_reply(tag, std::move(reply), current_.load());
  }
  void on_watch(const coordination::WatchEvent& event) override {
    if (current_.load()) ensemble_.on_watch(event);
  }
  void on_session(const SessionEvent& event) override {
    if (!current_.load()) return;
    if (event.kind == SessionEvent::Kind::connected) {
      established_ = true;
      // Before it can have locks.
      if (const auto session = session_.identity()) keeper_.record().connected(*session);
    }
    if (event.kind == SessionEvent::Kind::expired) expired_ = true;
    const bool ended = event.kind == SessionEvent::Kind::expired || event.kind == SessionEvent::Kind::auth_failed;
    if (ended) retire();
    // The end of a session that was never used, as its authentication took too long, is the end of nothing.
    if (event.kind != SessionEvent::Kind::expired || established_) ensemble_.on_session(event);
    if (ended) keeper_.session_ended();
  }

 private:
  EnsembleLink& ensemble_;
  SessionKeeper& keeper_;
  std::atomic<bool> current_{true};
  std::atomic<bool> established_{false};
  std::atomic<bool> expired_{false};
  zookeeper::ZooKeeperSession session_;
};

SessionKeeper::SessionKeeper(EnsembleLink& ensemble)
    : ensemble_(ensemble),
      record_([this](std::string_view level, std::string_view message) { ensemble_.log(level, message); }) {}

SessionKeeper::~SessionKeeper() {
  stop();
}

void SessionKeeper::start(ClientUse use) {
  const Settings& settings = ensemble_.core().settings();
  options_ = session_options(settings);
  options_.make_chroot = use == ClientUse::locks;
  names_ = std::make_shared<zookeeper::NameLookup>(zookeeper::parse_connect_string(options_.servers).servers, nullptr);
  options_.names = names_;
  // Who only looks has no locks.
  if (use == ClientUse::locks) {
    record_.use(settings.session_file().native(), ensemble_identity(settings), options_);
  }
  options_.clock = &now;
  options_.log = [this](std::string_view line) {
    if (const auto text = raw_lines_.pass(line, now())) ensemble_.log("warning", *text);
  };
  thread_ = records::start_thread("forelock-keep", [this] { run(); });
}

void SessionKeeper::begin_stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (names_) names_->cancel();
}

void SessionKeeper::stop() {
  begin_stop();
  if (thread_.joinable()) thread_.join();
  record_.release();
}

void SessionKeeper::session_ended() {
  const std::lock_guard guard(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool SessionKeeper::wait(std::chrono::milliseconds time) {
  std::unique_lock guard(mutex_);
  return changed_.wait_for(guard, time, [this] { return stopping_ || ended_; });
}

void SessionKeeper::run() {
  record_.take();
  int refused = 0;  // sessions, one after the other
  while (true) {
    {
      const std::lock_guard guard(mutex_);
      if (stopping_) return;
      ended_ = false;
    }
    SessionLink link(ensemble_, *this, options_);
    ensemble_.use_session(&link.session());
    try {
      link.session().start();
      keep(link);
    } catch (const std::exception& problem) {
      ensemble_.set_problem(problem.what());
      wait(std::max(ensemble_.core().settings().connection_delay(), least_pause));
    }
    link.retire();
    const bool ends = link.expired() || ensemble_.connected();
    ensemble_.use_session(nullptr);
    link.session().close();
    record_.closed(ends);
    if (link.established()) refused = 0;
    if (ensemble_.standing_problem()) {  // refused credentials, say: the next session will fare no better at once
      const auto least = std::max(ensemble_.core().settings().connection_delay(), least_pause);
      const auto pause = std::min<std::chrono::milliseconds>(least * (1 << refused), std::max(least, longest_pause));
      refused = std::min(refused + 1, most_doublings);
      std::unique_lock guard(mutex_);
      changed_.wait_for(guard, pause, [this] { return stopping_; });
    }
  }
}

std::string SessionKeeper::why_disconnected(bool& serves) {
  std::string problems;
  for (const zookeeper::ResolvedServer& server : names_->latest()) {
    if (wait(std::chrono::milliseconds(0))) break;
    problems += (problems.empty() ? "" : "; ") + unreachable(server, options_.tls.get(), serves);
  }
  return problems;
}

void SessionKeeper::keep(SessionLink& link) {
  auto addresses_checked = std::chrono::steady_clock::now();
  lock::TimePoint refused_since = lock::never;
  std::chrono::milliseconds interval = first_look;
  while (true) {
    const bool connected = ensemble_.connected();
    if (wait(interval)) return;
    record_.take();
    interval = connected ? stuck_check_interval : ensemble_.core().settings().connection_delay();
    if (const auto why = ensemble_.why_useless()) {
      link.retire();
      ensemble_.session_given_up(*why);
      return;
    }
    bool serves = false;
    if (const auto problem = link.session().last_problem()) {
      // A server that refuses the credentials serves, and keeps the session alive by every attempt.
      serves = problem->code == coordination::ReplyCode::auth_failed;
      const bool refused = serves || problem->code == coordination::ReplyCode::no_auth;
      ensemble_.set_problem(problem->message, refused ? std::optional(ErrorCode::not_authorized) : std::nullopt);
    } else if (!ensemble_.connected()) {
      if (std::string why = why_disconnected(serves); !why.empty()) ensemble_.set_problem(std::move(why));
    }
    // The C client would ask for its session for ever, of servers that have not seen what it has. In all that time they
    // would have ended it, if they knew it.
    refused_since = serves && link.established() ? std::min(refused_since, now()) : lock::never;
    // Of a session that was taken back between two looks its last connection tells.
    const lock::TimePoint refused = std::max(refused_since, ensemble_.down_since());
    if (refused_since != lock::never && now() - refused > 2 * ensemble_.longest_session_timeout()) {
      link.retire();
      const auto problem = link.session().last_problem();
      ensemble_.session_given_up(problem ? problem->message
                                         : "the servers serve, but do not take this session back: their data are older "
                                           "than it");
      return;
    }
    const auto time = std::chrono::steady_clock::now();
    if (!connected || time - addresses_checked >= address_check_interval) {
      addresses_checked = time;
      if (link.session().refresh_servers() == zookeeper::RefreshResult::failed) {
        ensemble_.log("warning", "no ZooKeeper server's name can be resolved at the moment");
      }
    }
  }
}

}  // namespace forelock::client
