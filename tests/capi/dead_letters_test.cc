// Dead letters of the C interface on a real broker that asks for TLS and a password.
#include "integration/dead_letters.h"
#include "forelock/c.h"
#include "integration/fixture.h"
#include "integration/secure_broker.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr const char* topic = "letters-of-c";

class CDeadLetters : public ::testing::Test {
 protected:
  fl_config config() {
    fl_config config = 0;
    EXPECT_EQ(fl_config_new(&config), FL_OK);
    set(config, "zookeeper.servers", server_.connect_string());
    set(config, "dlq.outbox.path", (directory_.path() / "outbox.db").string());
    set(config, "dlq.topic", topic);
    return config;
  }
  static void set(fl_config config, const std::string& key, const std::string& value) {
    EXPECT_EQ(fl_config_set(config, key.c_str(), value.c_str()), FL_OK) << key << ": " << fl_last_message();
  }
  void secure(fl_config config, const std::string& password) {
    set(config, "kafka.bootstrap.servers", secure_.broker().bootstrap("SASL_SSL"));
    set(config, "kafka.security.protocol", "SASL_SSL");
    set(config, "kafka.ssl.ca.location", secure_.file("broker.pem").string());
    set(config, "kafka.sasl.mechanism", "PLAIN");
    set(config, "kafka.sasl.username", "alice");
    set(config, "kafka.sasl.password.file", secure_.secret_file("password", password + "\n"));
  }
  // A letter of an operation whose attempts were made elsewhere.
  static void accept(fl_client client, fl_dlq dlq, const char* id) {
    fl_operation_spec spec{};
    spec.size = sizeof spec;
    spec.id = id;
    spec.type = "saveContent";
    spec.monitor = "P1";
    spec.payload = "x";
    spec.payload_length = 1;
    fl_failed_attempt attempt{};
    attempt.size = sizeof attempt;
    attempt.at_ms = 1'700'000'000'000;
    attempt.code = "cluster_red";
    EXPECT_EQ(fl_dlq_accept(client, dlq, &spec, &attempt, 1, 3, nullptr), FL_OK) << fl_last_message();
  }
  static fl_dlq_status status_of(fl_dlq dlq) {
    fl_dlq_status status{};
    status.size = sizeof status;
    EXPECT_EQ(fl_dlq_get_status(dlq, &status), FL_OK);
    return status;
  }

  TestServer server_{quick_server()};
  SecureBroker secure_;
  TemporaryDirectory directory_;
};

TEST_F(CDeadLetters, ReachABrokerOverTlsWithAPassword) {
  make_topic(secure_.broker(), topic);
  const fl_config wrong = config();
  secure(wrong, "not-the-right-one");
  fl_client client = 0;
  ASSERT_EQ(fl_client_open(wrong, 0, &client), FL_OK) << fl_last_message();
  fl_dlq dlq = 0;
  ASSERT_EQ(fl_dlq_open(wrong, &dlq), FL_OK) << fl_last_message();
  accept(client, dlq, "first");
  std::int32_t done = -1;
  ASSERT_EQ(fl_dlq_flush(dlq, 3'000, &done), FL_OK) << fl_last_message();
  EXPECT_EQ(done, 0) << "nobody is let in with that password";
  EXPECT_EQ(status_of(dlq).outbox_rows, 1u);
  EXPECT_TRUE(wait_until([&] { return *status_of(dlq).last_problem != 0; }));
  EXPECT_THAT(status_of(dlq).last_problem, HasSubstr("uthentication"));
  ASSERT_EQ(fl_dlq_free(dlq), FL_OK);

  const fl_config right = config();
  secure(right, SecureBroker::password);
  ASSERT_EQ(fl_dlq_open(right, &dlq), FL_OK) << fl_last_message();
  accept(client, dlq, "second");
  ASSERT_EQ(fl_dlq_flush(dlq, 60'000, &done), FL_OK) << fl_last_message();
  EXPECT_EQ(done, 1) << status_of(dlq).last_problem;
  EXPECT_EQ(status_of(dlq).delivered, 2u);
  EXPECT_EQ(status_of(dlq).outbox_rows, 0u);
  const auto records = read_topic(secure_.broker().bootstrap(), topic);
  EXPECT_EQ(ids_of(records), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(records.at(0).key, "P1");
  EXPECT_EQ(fl_dlq_free(dlq), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
  EXPECT_EQ(fl_config_free(wrong), FL_OK);
  EXPECT_EQ(fl_config_free(right), FL_OK);
}

TEST(CDeadLetterSettings, OneThatLibrdkafkaDoesNotKnowIsAConfigurationError) {
  const TemporaryDirectory directory;
  fl_config bad = 0;
  ASSERT_EQ(fl_config_new(&bad), FL_OK);
  EXPECT_EQ(fl_config_set(bad, "dlq.outbox.path", (directory.path() / "outbox.db").c_str()), FL_OK);
  EXPECT_EQ(fl_config_set(bad, "kafka.bootstrap.servers", "127.0.0.1:1"), FL_OK);
  EXPECT_EQ(fl_config_set(bad, "kafka.ssl.ca.locations", "/nowhere"), FL_OK);
  fl_dlq dlq = 0;
  EXPECT_EQ(fl_dlq_open(bad, &dlq), FL_CONFIGURATION);
  EXPECT_THAT(fl_last_message(), HasSubstr("kafka.ssl.ca.locations"));
  EXPECT_EQ(fl_config_free(bad), FL_OK);
}

}  // namespace
}  // namespace forelock::test
