// Mutual TLS and SCRAM with a real broker, and what goes wrong on the way: the hostile list of TLS to ZooKeeper, for
// Kafka.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "forelock/error.h"
#include "kafka/admin.h"
#include "kafka/producer.h"
#include "kafka/reader.h"
#include "support/certificates.h"
#include "support/log_lines.h"
#include "support/openssl_server.h"
#include "support/tcp_proxy.h"
#include "support/temporary_directory.h"
#include "support/test_broker.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;
using kafka::Delivery;
using kafka::Producer;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Changes = std::vector<Settings::Override>;

constexpr const char* scram_password = "s3cret of alice";
constexpr std::chrono::seconds send_patience{3};

// Its listeners: one that asks for a certificate, one that asks for a password by SCRAM, and one without either.
class TlsBroker {
 public:
  TlsBroker() : authority_(folder_.path(), "good"), client_(authority_.issue("client", {})), broker_(options()) {
    TestBroker::run_java(FORELOCK_SCRAM_USER, {broker_.bootstrap(), "alice", scram_password});
    Settings anybody;
    anybody.set("kafka.bootstrap.servers", broker_.bootstrap());
    kafka::Admin(anybody).create({"tls", 1, 1, {}});
  }

  const TestBroker& broker() const { return broker_; }
  const Authority& authority() const { return authority_; }
  const Identity& client() const { return client_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string password_file(const std::string& password) const {
    const std::filesystem::path path = folder() / "password";
    std::ofstream(path) << password << "\n";
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    return path.string();
  }

 private:
  BrokerOptions options() const {
    const Identity own = authority_.issue("broker", {.names = "DNS:localhost,IP:127.0.0.1"});
    return {.config_lines = {"ssl.keystore.type=PEM", "ssl.keystore.location=" + joined(own).string(),
                             "ssl.truststore.type=PEM", "ssl.truststore.location=" + authority_.certificate().string(),
                             "listener.name.ssl.ssl.client.auth=required", "sasl.enabled.mechanisms=SCRAM-SHA-512",
                             "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security."
                             "scram.ScramLoginModule required;"},
            .listeners = {"SSL", "SASL_SSL"}};
  }

  const TemporaryDirectory folder_;
  const Authority authority_;
  const Identity client_;
  TestBroker broker_;
};

class KafkaTlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { secure_ = new TlsBroker; }
  static void TearDownTestSuite() { delete secure_; }

  static Settings settings(const Changes& changes = {}) {
    Settings all;
    all.set({{"kafka.bootstrap.servers", secure_->broker().bootstrap("SSL")},
             {"kafka.security.protocol", "SSL"},
             {"kafka.ssl.ca.location", secure_->authority().certificate().string()},
             {"kafka.ssl.certificate.location", secure_->client().certificate.string()},
             {"kafka.ssl.key.location", secure_->client().key.string()}});
    all.set(changes);
    return all;
  }
  static Settings scram(const std::string& password, const Changes& changes = {}) {
    Settings all;
    all.set({{"kafka.bootstrap.servers", secure_->broker().bootstrap("SASL_SSL")},
             {"kafka.security.protocol", "SASL_SSL"},
             {"kafka.ssl.ca.location", secure_->authority().certificate().string()},
             {"kafka.sasl.mechanism", "SCRAM-SHA-512"},
             {"kafka.sasl.username", "alice"},
             {"kafka.sasl.password.file", secure_->password_file(password)}});
    all.set(changes);
    return all;
  }

  static bool delivers(const Settings& settings) {
    return Producer(settings).send({"tls", "P1", "a-record-of-plain-text", {}}, 60s).delivered;
  }
  // What is said of a record that has so much time; never later.
  static std::string outcome(const Settings& settings) {
    LogLines log;
    std::string text;
    const auto begun = std::chrono::steady_clock::now();
    {
      Producer producer(settings, log.sink());
      const Delivery delivery = producer.send({"tls", "P1", "a-record-of-plain-text", {}}, send_patience);
      text = delivery.delivered ? "delivered" : delivery.message;
    }
    EXPECT_LE(std::chrono::steady_clock::now() - begun, 2 * send_patience + 2s) << text;
    EXPECT_THAT(log.text() + text, Not(HasSubstr(scram_password)));
    return text;
  }
  static std::string at(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }
  // Of one that shows this certificate, and is found by the right authority unless the changes say otherwise.
  static std::string outcome_of(const IdentityOptions& shown, const std::vector<std::string>& options = {},
                                const Changes& changes = {}) {
    const OpensslServer server(secure_->folder(), secure_->authority().issue("hostile", shown), options);
    Settings all = settings({{"kafka.bootstrap.servers", at(server.port())}});
    all.set(changes);
    return outcome(all);
  }

  static inline TlsBroker* secure_ = nullptr;
};

TEST_F(KafkaTlsTest, RecordsOverMutualTlsAndWithScram) {
  // Brokers say where they are: the wire is tapped at the first connection, which is to the address given.
  TcpProxy proxy(secure_->broker().port("SASL_SSL"));
  std::mutex mutex;
  std::string wire;
  proxy.set_filter([&](TcpProxy::Direction, const std::string& bytes) {
    const std::lock_guard guard(mutex);
    wire += bytes;
  });
  EXPECT_TRUE(delivers(settings()));
  EXPECT_TRUE(delivers(scram(scram_password, {{"kafka.bootstrap.servers", at(proxy.port())}})));
  kafka::Reader reader(settings(), "tls", "readers");
  int count = 0;
  reader.read(reader.ranges().value(), [&](const kafka::RecordView&) { return ++count > 0; });
  EXPECT_EQ(count, 2);
  const std::lock_guard guard(mutex);
  ASSERT_GT(wire.size(), 500U);
  EXPECT_EQ(wire.substr(0, 2), "\x16\x03") << "no TLS handshake";
  EXPECT_THAT(wire, AllOf(Not(HasSubstr("alice")), Not(HasSubstr("SCRAM"))));
}

TEST_F(KafkaTlsTest, WhoShowsNoCertificateIsRefused) {
  EXPECT_NE(outcome(settings({{"kafka.ssl.certificate.location", ""}, {"kafka.ssl.key.location", ""}})), "delivered");
  const Authority other(secure_->folder(), "stranger");
  const Identity stranger = other.issue("stranger", {});
  EXPECT_NE(outcome(settings({{"kafka.ssl.certificate.location", stranger.certificate.string()},
                              {"kafka.ssl.key.location", stranger.key.string()}})),
            "delivered");
}

TEST_F(KafkaTlsTest, AWrongPasswordIsSaidAndNotShown) {
  const std::string wrong = "not the one";
  try {
    kafka::Reader(scram(wrong), "tls", "readers").ranges();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_authorized) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr("uthentication"), Not(HasSubstr(wrong))));
  }
  EXPECT_THAT(outcome(scram(wrong)), AllOf(HasSubstr("uthentication"), Not(HasSubstr(wrong))));
  EXPECT_TRUE(delivers(scram(scram_password))) << "the right one, afterwards";
}

TEST_F(KafkaTlsTest, ServersThatAreNotTheOneThatIsMeant) {
  const std::string right = "IP:127.0.0.1";
  const Authority other(secure_->folder(), "other");
  const std::string not_trusted = outcome(settings({{"kafka.ssl.ca.location", other.certificate().string()}}));
  EXPECT_THAT(not_trusted, HasSubstr("certificate")) << "an authority that is not the one given";
  EXPECT_THAT(outcome_of({.names = "DNS:evil.example"}), AnyOf(HasSubstr("certificate"), HasSubstr("hostname")));
  EXPECT_THAT(outcome_of({.names = "DNS:*"}), AnyOf(HasSubstr("certificate"), HasSubstr("hostname")));
  EXPECT_THAT(outcome_of({.names = right, .expired = true}), HasSubstr("certificate"));
  EXPECT_THAT(outcome_of({.names = right}, {"-tls1_1", "-cipher", "ALL:@SECLEVEL=0"}), HasSubstr("SSL"));
  const Identity revoked = secure_->authority().issue("hostile", {.names = right});
  const OpensslServer server(secure_->folder(), revoked);
  const auto with_list = [&](const std::vector<Identity>& listed) {
    const std::string list = secure_->authority().revoke(listed).string();
    return outcome(settings({{"kafka.bootstrap.servers", at(server.port())}, {"kafka.ssl.crl.location", list}}));
  };
  EXPECT_THAT(with_list({}), Not(HasSubstr("certificate")));
  EXPECT_THAT(with_list({revoked}), HasSubstr("certificate verify failed"));
}

TEST_F(KafkaTlsTest, PortsOfTheOtherKindAndSilence) {
  EXPECT_NE(outcome(settings({{"kafka.bootstrap.servers", secure_->broker().bootstrap()}})), "delivered");
  EXPECT_NE(outcome(settings({{"kafka.bootstrap.servers", secure_->broker().bootstrap("SSL")},
                              {"kafka.security.protocol", "PLAINTEXT"}})),
            "delivered");
  for (const std::size_t passed : {0U, 300U}) {
    TcpProxy half(secure_->broker().port("SSL"));
    std::size_t before = 0;
    half.set_filter([&](TcpProxy::Direction direction, std::string& bytes) {
      if (direction != TcpProxy::Direction::to_client) return;
      const std::size_t left = passed - std::min(passed, before);
      before += bytes.size();
      bytes.resize(std::min(bytes.size(), left));
    });
    EXPECT_NE(outcome(settings({{"kafka.bootstrap.servers", at(half.port())}})), "delivered");
  }
}

TEST_F(KafkaTlsTest, ManyDescriptorsAreOpen) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit raised = limit;
  raised.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &raised), 0);
  std::vector<int> open;
  while (open.size() < 2000) open.push_back(dup(STDERR_FILENO));
  EXPECT_TRUE(delivers(settings()));
  for (const int descriptor : open) close(descriptor);
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_F(KafkaTlsTest, AKeyIsClosedToOthers) {
  const Identity open = secure_->authority().issue("open", {});
  std::filesystem::permissions(open.key, std::filesystem::perms(0644));
  try {
    const Producer producer(settings({{"kafka.ssl.certificate.location", open.certificate.string()},
                                      {"kafka.ssl.key.location", open.key.string()}}));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ConfigurationException& refused) {
    EXPECT_THAT(refused.what(), AllOf(HasSubstr("kafka.ssl.key.location"), HasSubstr("(mode 0644)")));
  }
}

}  // namespace
}  // namespace forelock::test
