#include "contract/real_backend.h"

#include <unistd.h>

#include "contract/recorder.h"
#include "support/session_killer.h"
#include "support/tcp_proxy.h"
#include "support/wait_until.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::contract {
namespace {

using coordination::SessionEvent;
using coordination::SessionListener;
using test::TcpProxy;

// Passes everything on, and remembers the session's id.
class IdNoter final : public SessionListener {
 public:
  explicit IdNoter(SessionListener& next) : next_(next) {}

  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override {
    next_.on_reply(tag, std::move(reply));
  }
  void on_watch(const coordination::WatchEvent& event) override { next_.on_watch(event); }
  void on_session(const SessionEvent& event) override {
    if (event.kind == SessionEvent::Kind::connected) id_ = event.session;
    next_.on_session(event);
  }

  coordination::SessionId id() const { return id_; }

 private:
  SessionListener& next_;
  std::atomic<coordination::SessionId> id_{0};
};

class RealSession final : public BackendSession {
 public:
  RealSession(std::uint16_t server_port, const SecurePort& secure, const std::string& chroot, Identity identity,
              SessionListener& listener)
      : server_port_(server_port), proxy_(secure.tls ? secure.port : server_port), noter_(listener) {
    zookeeper::SessionOptions options;
    options.tls = identity == Identity::owner ? secure.of_owner : secure.tls;
    options.servers = proxy_.connect_string() + chroot;
    options.session_timeout = std::chrono::seconds(10);
    if (identity == Identity::owner) {
      options.credential = "owner:secret";
      options.acl.kind = zookeeper::AclPolicy::Kind::creator_all;
    }
    session_ = std::make_unique<zookeeper::ZooKeeperSession>(options, noter_);
    session_->start();
  }

  ~RealSession() override {
    heal();  // so that the server hears of the end
    session_.reset();
  }

  coordination::Session& session() override { return *session_; }
  void close() override { session_->close(); }

  void cut() override {
    proxy_.refuse(true);
    proxy_.cut_connections();
    proxy_.stall(false);
  }
  void heal() override {
    proxy_.stall(false);
    proxy_.refuse(false);
  }
  void withhold_replies() override { proxy_.stall(TcpProxy::Direction::to_client, true); }

  void expire() override {
    test::end_session("127.0.0.1", server_port_, noter_.id());
    proxy_.cut_connections();  // the client learns of it when it comes back
  }

 private:
  const std::uint16_t server_port_;
  TcpProxy proxy_;
  IdNoter noter_;
  std::unique_ptr<zookeeper::ZooKeeperSession> session_;
};

class RealBackend final : public Backend {
 public:
  RealBackend(std::uint16_t server_port, bool chroot, SecurePort secure)
      : server_port_(server_port), secure_(std::move(secure)) {
    static std::atomic<int> counter{0};
    if (chroot) chroot_ = "/namespace-" + std::to_string(getpid()) + "/" + std::to_string(counter++);
  }

  Capabilities capabilities() const override {
    return {.cut = true,
            .withhold_replies = true,
            .expire = true,
            .containers_vanish = true,
            .access_control = true,
            .quota = true};
  }

  std::unique_ptr<BackendSession> new_session(SessionListener& listener, Identity identity) override {
    return std::make_unique<RealSession>(server_port_, secure_, chroot_, identity, listener);
  }

  std::chrono::steady_clock::time_point now() const override { return std::chrono::steady_clock::now(); }

  bool run_until(const std::function<bool()>& predicate) override { return test::wait_until(predicate); }

  // As ZooKeeper's `setquota` does it, with a hard limit.
  void limit_descendants(const std::string& path, int count) override {
    Recorder recorder;
    RealSession plain(server_port_, secure_, "", Identity::anyone, recorder);
    test::wait_until([&] { return recorder.count(SessionEvent::Kind::connected) > 0; });
    std::string node = "/zookeeper/quota";
    coordination::RequestTag tag = 0;
    const std::string target = chroot_ + path;
    for (std::size_t slash = 0; slash != std::string::npos;) {
      const std::size_t next = target.find('/', slash + 1);
      node += target.substr(slash, next == std::string::npos ? next : next - slash);
      plain.session().submit(++tag, coordination::Create{node, ""});
      slash = next;
    }
    const std::string limits = "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=" + std::to_string(count);
    plain.session().submit(++tag, coordination::Create{node + "/zookeeper_limits", limits});
    plain.session().submit(++tag, coordination::Create{node + "/zookeeper_stats", "count=1,bytes=0"});
    test::wait_until([&] { return recorder.reply(tag).has_value(); });
  }

 private:
  const std::uint16_t server_port_;
  const SecurePort secure_;
  std::string chroot_;
};

}  // namespace

std::unique_ptr<Backend> make_real_backend(std::uint16_t server_port, bool chroot, const SecurePort& secure) {
  return std::make_unique<RealBackend>(server_port, chroot, secure);
}

}  // namespace forelock::contract
