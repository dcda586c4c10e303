// What is sent is in the topic, where a Java client would have put it, as an independent witness sees it.
#include "kafka/producer.h"
#include "kafka/reader.h"
#include "kafka_fixture.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using kafka::Delivery;
using kafka::Producer;
using kafka::Reader;
using kafka::Record;
using kafka::RecordView;

std::string base64(const std::string& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t index = 0; index < bytes.size(); index += 3) {
    std::uint32_t group = 0;
    for (std::size_t byte = index; byte < index + 3; ++byte) {
      group = group << 8 | (byte < bytes.size() ? static_cast<unsigned char>(bytes[byte]) : 0U);
    }
    const std::size_t left = bytes.size() - index;
    text += digits[group >> 18 & 63];
    text += digits[group >> 12 & 63];
    text += left > 1 ? digits[group >> 6 & 63] : '=';
    text += left > 2 ? digits[group & 63] : '=';
  }
  return text;
}

TEST_F(KafkaTest, AnIndependentWitnessSeesTheRecord) {
  const std::string topic = make_topic();
  Producer producer(settings());
  const Record record{topic,
                      "Artikel-Ü 1",
                      R"({"schema":1,"payload":"äöü"})",
                      {{"content-type", "application/json"}, {"ce_id", "0001"}, {"dlq_message", "größer"}, {"e", ""}}};
  const Delivery delivery = producer.send(record, 20s);
  ASSERT_TRUE(delivery.delivered) << delivery.message;
  EXPECT_EQ(delivery.partition, 0);
  EXPECT_EQ(delivery.offset, 0);
  ASSERT_TRUE(producer.send({topic, "Artikel-Ü 1", std::nullopt, {}}, 20s).delivered);
  ASSERT_TRUE(producer.send({topic, "", "", {}}, 20s).delivered);

  const std::vector<WitnessedRecord> seen = witness(broker().bootstrap(), topic);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].key, record.key);
  EXPECT_EQ(seen[0].value, record.value);
  EXPECT_EQ(seen[0].headers, record.headers);
  EXPECT_EQ(seen[1].key, record.key);
  EXPECT_EQ(seen[1].value, std::nullopt) << "a tombstone";
  EXPECT_EQ(seen[2].value, "");
}

// One that the broker makes by itself has the broker's settings: letters would expire in it.
TEST_F(KafkaTest, SendingMakesNoTopic) {
  const TestBroker generous({.config_lines = {"auto.create.topics.enable=true"}, .listeners = {}});
  Producer producer(settings_for(generous.bootstrap(), {{"topic.metadata.propagation.max.ms", "500"}}));
  EXPECT_FALSE(producer.send({"Missing", "P1", "value", {}}, 5s).delivered);
  EXPECT_FALSE(kafka::Admin(settings_for(generous.bootstrap())).partitions("Missing"));
}

TEST_F(KafkaTest, SettingsOfATopicAreSeenAndChanged) {
  const std::string topic = make_topic(1, {{"segment.ms", "3600000"}});
  kafka::Admin admin(settings());
  EXPECT_EQ(admin.settings(topic).at("retention.ms"), "604800000");
  EXPECT_EQ(admin.settings(topic).at("segment.ms"), "3600000");
  admin.alter(topic, {{"retention.ms", "-1"}});
  ASSERT_TRUE(wait_until([&] { return admin.settings(topic).at("retention.ms") == "-1"; }));
  EXPECT_EQ(admin.settings(topic).at("segment.ms"), "3600000") << "the others stay";
}

TEST_F(KafkaTest, WhatWasSentIsReadBack) {
  const std::string topic = make_topic();
  Producer producer(settings());
  ASSERT_TRUE(producer.send({topic, "P1", "first", {}}, 20s).delivered);
  ASSERT_TRUE(producer.send({topic, "P1", std::nullopt, {}}, 20s).delivered);
  const std::string large(900'000, 'x');
  ASSERT_TRUE(producer.send({topic, "P2", large, {}}, 20s).delivered);

  Reader reader(settings(), topic, "readers");
  const auto ranges = reader.ranges();
  ASSERT_TRUE(ranges);
  std::vector<std::string> seen;
  reader.read(*ranges, [&](const RecordView& record) {
    EXPECT_EQ(record.offset, static_cast<std::int64_t>(seen.size()));
    seen.push_back(std::string(record.key) + "=" + (record.tombstone ? "(none)" : std::string(record.value)));
    return true;
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"P1=first", "P1=(none)", "P2=" + large}));
}

TEST_F(KafkaTest, APartitionIsTheOneThatJavaChooses) {
  constexpr std::int32_t partitions = 7;
  const std::string topic = make_topic(partitions);
  const std::string javas_topic = make_topic(partitions);
  std::vector<std::string> keys = {"", "P1", "\x01", "Grüße", "日本語のキー", "😀", std::string(300, 'k'), " "};
  for (int number = 0; number < 300; ++number) keys.push_back("article-" + std::to_string(number * 7919));

  std::vector<std::int32_t> ours(keys.size(), -1);
  Producer producer(settings());
  for (std::size_t index = 0; index < keys.size(); ++index) {
    ASSERT_TRUE(producer.try_send({topic, keys[index], "", {}},
                                  [&ours, index](const Delivery& delivery) { ours[index] = delivery.partition; }));
  }
  ASSERT_TRUE(producer.flush(20s));

  const std::filesystem::path file = broker().directory() / "keys";
  std::ofstream stream(file);
  for (const std::string& key : keys) stream << base64(key) << "\n";
  stream.close();
  std::istringstream answer(
      TestBroker::run_java(FORELOCK_PARTITION_ORACLE, {broker().bootstrap(), javas_topic, file.string()}));
  std::vector<std::int32_t> javas;
  for (std::int32_t partition = 0; answer >> partition;) javas.push_back(partition);
  EXPECT_EQ(ours, javas);
}

TEST_F(KafkaTest, ARecordThatTheBrokerFindsTooLargeIsRefusedForGood) {
  const std::string topic = make_topic(1, {{"max.message.bytes", "2000"}});
  Producer producer(settings());
  const auto begun = std::chrono::steady_clock::now();
  const Delivery delivery = producer.send({topic, "P1", std::string(5000, 'q'), {}}, 20s);
  EXPECT_FALSE(delivery.delivered);
  EXPECT_TRUE(delivery.permanent);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 15s) << "trying again is of no use";
  EXPECT_THAT(delivery.message,
              AllOf(HasSubstr(topic), HasSubstr("5002 bytes"), HasSubstr("max.message.bytes"), Not(HasSubstr("qqqq"))));
  EXPECT_TRUE(producer.send({topic, "P1", "small", {}}, 20s).delivered) << "others are not concerned";
}

TEST_F(KafkaTest, ARecordLargerThanAnyLetterIsRefusedWithoutABroker) {
  const std::string topic = make_topic();
  Producer producer(settings());
  int called = 0;
  Delivery seen;
  ASSERT_TRUE(producer.try_send({topic, "P1", std::string(12 * 1024 * 1024, 'q'), {}}, [&](const Delivery& delivery) {
    ++called;
    seen = delivery;
  }));
  ASSERT_TRUE(producer.flush(20s));
  EXPECT_EQ(called, 1);
  EXPECT_FALSE(seen.delivered);
  EXPECT_TRUE(seen.permanent);
}

TEST_F(KafkaTest, ALetterOfTheLargestSizeFits) {
  const std::string topic = make_topic(1, {{"max.message.bytes", "10000000"}});
  Producer producer(settings());
  const Delivery delivery = producer.send({topic, "P1", std::string(8 * 1024 * 1024, 'q'), {}}, 30s);
  EXPECT_TRUE(delivery.delivered) << delivery.message;
  Reader reader(settings(), topic, "readers");
  std::size_t size = 0;
  reader.read(reader.ranges().value(), [&](const RecordView& record) {
    size = record.value.size();
    return true;
  });
  EXPECT_EQ(size, 8U * 1024 * 1024);
}

TEST_F(KafkaTest, AFullQueueTakesNothingMoreAndLosesNothing) {
  const std::string topic = make_topic();
  Producer producer(settings({{"queue.buffering.max.messages", "10"}}));
  broker().pause();
  std::atomic<int> delivered = 0;
  int taken = 0;
  while (taken < 1000 && producer.try_send({topic, "P1", "x", {}}, [&](const Delivery& delivery) {
    delivered += delivery.delivered ? 1 : 0;
  })) {
    ++taken;
  }
  EXPECT_EQ(taken, 10);
  broker().resume();
  EXPECT_TRUE(producer.flush(20s));
  EXPECT_EQ(delivered, 10);
  EXPECT_TRUE(producer.try_send({topic, "P1", "x", {}}, {}));
}

}  // namespace
}  // namespace forelock::test
