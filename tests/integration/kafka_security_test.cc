// TLS, passwords and permissions on a real broker that asks for them.
#include <librdkafka/rdkafka.h>

#include "forelock/error.h"
#include "integration/secure_broker.h"
#include "kafka/producer.h"
#include "kafka/reader.h"
#include "kafka_fixture.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using kafka::Delivery;
using kafka::Producer;
using kafka::Reader;

constexpr const char* password = SecureBroker::password;
constexpr const char* wrong_password = "not-the-right-one";

class SecureKafkaTest : public ::testing::Test {
 protected:
  static SecureBroker& secure() {
    static SecureBroker secure;
    return secure;
  }

  // As somebody with a password, over TLS.
  static Settings settings(const std::string& user, const std::string& its_password) {
    Settings settings;
    settings.set("kafka.bootstrap.servers", secure().broker().bootstrap("SASL_SSL"));
    settings.set("kafka.security.protocol", "SASL_SSL");
    settings.set("kafka.ssl.ca.location", secure().file("broker.pem").string());
    settings.set("kafka.sasl.mechanism", "PLAIN");
    settings.set("kafka.sasl.username", user);
    settings.set("kafka.sasl.password.file", secure().secret_file(user + ".password", its_password + "\n"));
    return settings;
  }

  static std::string make_topic(const std::string& name) {
    kafka::Admin(settings("alice", password)).create({name, 1, 1, {}});
    return name;
  }
};

TEST_F(SecureKafkaTest, APasswordFromAFileOverTls) {
  Settings alice = settings("alice", password);
  alice.set("kafka.debug", "security,broker,conf,msg");
  const std::string topic = make_topic("with-password");
  LogLines log;
  {
    Producer producer(alice, log.sink());
    const Delivery delivery = producer.send({topic, "P1", "x", {}}, 20s);
    ASSERT_TRUE(delivery.delivered) << delivery.message;
    Reader reader(alice, topic, "readers", log.sink());
    int count = 0;
    reader.read(reader.ranges().value(), [&](const kafka::RecordView&) { return ++count > 0; });
    EXPECT_EQ(count, 1);
  }
  EXPECT_GT(log.count(), 50U) << "what was asked for by kafka.debug is there";
  EXPECT_THAT(log.text(), Not(HasSubstr(password)));
}

TEST_F(SecureKafkaTest, AWrongPasswordIsSaidAtOnceAndNowhereShown) {
  const Settings wrong = settings("alice", wrong_password);
  LogLines log;
  const auto begun = std::chrono::steady_clock::now();
  try {
    Reader(wrong, "T", "readers", log.sink()).ranges();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_authorized);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(secure().broker().bootstrap("SASL_SSL")), HasSubstr("uthentication"),
                                    Not(HasSubstr(wrong_password))));
    EXPECT_THAT(error.hint(), HasSubstr("kafka.sasl.username"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s);
  const Delivery delivery = Producer(wrong, log.sink()).send({"T", "P1", "x", {}}, 2s);
  EXPECT_FALSE(delivery.delivered);
  EXPECT_THAT(delivery.message, AllOf(HasSubstr("uthentication"), Not(HasSubstr(wrong_password))));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("uthentication"), Not(HasSubstr(wrong_password))));
}

TEST_F(SecureKafkaTest, ACertificateThatIsNotTrustedIsNamedAsTheReason) {
  Settings settings_without_ca = settings("alice", password);
  settings_without_ca.set("kafka.ssl.ca.location", "/etc/ssl/certs");
  const Delivery delivery = Producer(settings_without_ca).send({"T", "P1", "x", {}}, 2s);
  EXPECT_FALSE(delivery.delivered);
  EXPECT_THAT(delivery.message, HasSubstr("certificate"));
}

TEST_F(SecureKafkaTest, LookingForATopicDoesNotMakeIt) {
  kafka::Admin admin(settings("alice", password));
  EXPECT_EQ(admin.partitions("never-made"), std::nullopt);
  EXPECT_EQ(Reader(settings("alice", password), "never-made", "readers").ranges(), std::nullopt);
  EXPECT_EQ(admin.partitions("never-made"), std::nullopt);
}

TEST_F(SecureKafkaTest, WithoutPermissionReadingIsRefusedForGood) {
  const std::string topic = make_topic("forbidden");
  try {
    Reader(settings("bob", "builder"), topic, "readers").ranges();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_authorized);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(topic), HasSubstr("authorization failed")));
    EXPECT_THAT(error.hint(), HasSubstr("ACL"));
  }
}

// Permits `operation` on the topic to the user.
void permit(const std::string& bootstrap, const std::string& user, const std::string& topic,
            rd_kafka_AclOperation_t operation) {
  char reason[256];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), reason, sizeof reason);
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client);
  rd_kafka_AclBinding_t* binding = rd_kafka_AclBinding_new(
      RD_KAFKA_RESOURCE_TOPIC, topic.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL, ("User:" + user).c_str(), "*",
      operation, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, reason, sizeof reason);
  rd_kafka_CreateAcls(client, &binding, 1, nullptr, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 20'000);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_event_error_string(event);
  rd_kafka_event_destroy(event);
  rd_kafka_AclBinding_destroy(binding);
  rd_kafka_queue_destroy(queue);
  rd_kafka_destroy(client);
}

// A broker that denies an idempotent producer its id is what librdkafka calls fatal: that client is of no use any more.
TEST_F(SecureKafkaTest, AfterAFatalErrorTheProducerIsReplacedAndGoesOn) {
  const std::string topic = make_topic("later-permitted");
  LogLines log;
  Producer producer(settings("bob", "builder"), log.sink());
  std::atomic<int> taken = 0;
  std::atomic<int> called = 0;
  std::atomic<int> delivered = 0;
  const auto try_one = [&] {
    const bool accepted = producer.try_send({topic, "P1", "x", {}}, [&](const Delivery& delivery) {
      ++called;
      delivered += delivery.delivered ? 1 : 0;
    });
    taken += accepted ? 1 : 0;
    return accepted;
  };
  ASSERT_TRUE(try_one());
  EXPECT_TRUE(wait_until([&] { return log.text().find("is replaced") != std::string::npos; })) << log.text();
  EXPECT_TRUE(wait_until([&] { return called == 1; })) << "the first client's record was given back";
  EXPECT_EQ(delivered, 0);
  EXPECT_THAT(producer.last_problem(), HasSubstr("authorization"));
  EXPECT_TRUE(wait_until(try_one)) << "a second client takes records";

  permit(secure().broker().bootstrap(), "bob", topic, RD_KAFKA_ACL_OPERATION_WRITE);
  // Until the permission has got about, a record is refused.
  EXPECT_TRUE(wait_until(
      [&] {
        return producer.send({topic, "P1", "permitted", {}}, 10s).delivered;
      },
      40s))
      << log.text();
  EXPECT_TRUE(producer.flush(20s));
  EXPECT_EQ(called, taken);
}

}  // namespace
}  // namespace forelock::test
