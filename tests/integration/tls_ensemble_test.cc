// Three servers that speak TLS among themselves, and mutual TLS with clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "integration/fixture.h"
#include "support/certificates.h"
#include "support/secure_server.h"
#include "support/temporary_directory.h"
#include "support/test_ensemble.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* server_names = "DNS:localhost,IP:127.0.0.1";

class TlsEnsemble {
 public:
  TlsEnsemble() : authority_(folder_.path(), "good"), ensemble_(options()), client_(authority_.issue("client", {})) {}

  TestEnsemble& ensemble() { return ensemble_; }
  const Authority& authority() const { return authority_; }
  Settings settings() const {
    Settings settings = settings_for(ensemble_.secure_connect_string());
    settings.set({{"zookeeper.tls.ca.file", authority_.certificate()},
                  {"zookeeper.tls.certificate.file", client_.certificate},
                  {"zookeeper.tls.key.file", client_.key},
                  {"zookeeper.session.timeout", "20000"}});
    return settings;
  }
  // All certificates, those of the servers towards each other included: each counts from its owner's next start or
  // connection on.
  void issue_anew() const {
    secure_lines(authority_, server_names);
    quorum_lines(authority_);
    static_cast<void>(authority_.issue("client", {}));
  }

 private:
  ServerOptions options() const {
    ServerOptions options = quick_server();
    options.secure_lines = secure_lines(authority_, server_names);
    options.config_lines = quorum_lines(authority_);
    return options;
  }

  const TemporaryDirectory folder_;
  const Authority authority_;
  TestEnsemble ensemble_;
  const Identity client_;
};

// With the certificates of all replaced before: neither the session nor the lock that is held is lost.
TEST(TlsEnsembleTest, EachServerIsRestartedWithANewCertificateUnderLoad) {
  TlsEnsemble servers;
  Client client(servers.settings());
  Client other(servers.settings());
  BlockingWriteLock held(client, "test", "held");
  held.lock_with_timeout();
  const std::int64_t session = client.session_id();
  std::atomic<bool> over{false};
  std::atomic<int> sections{0};
  std::thread load([&] {
    BlockingWriteLock lock(other, "load", "rolling");
    while (!over) {
      if (!lock.try_lock_for(30s)) continue;
      lock.unlock();
      ++sections;
    }
  });
  servers.issue_anew();
  for (std::size_t i = 0; i < TestEnsemble::size; ++i) {
    servers.ensemble().server(i).restart();
    EXPECT_TRUE(servers.ensemble().wait_until_serving());
    EXPECT_TRUE(wait_until([&] { return client.connected() && other.connected(); }, 60s)) << client.last_problem();
    const int before = sections;
    EXPECT_TRUE(wait_until([&] { return sections > before + 5; }, 60s)) << other.last_problem();
  }
  over = true;
  load.join();
  EXPECT_EQ(client.session_id(), session);
  EXPECT_EQ(other.statistics().sessions_expired, 0U);
  EXPECT_TRUE(held.healthy());
  held.unlock_or_throw();
}

}  // namespace
}  // namespace forelock::test
