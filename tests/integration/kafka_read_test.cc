// Reading ranges with gaps, committing, and the admin's calls.
#include <librdkafka/rdkafka.h>

#include "forelock/error.h"
#include "kafka/producer.h"
#include "kafka/reader.h"
#include "kafka_fixture.h"
#include "support/free_port.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using kafka::PartitionRange;
using kafka::Producer;
using kafka::Reader;
using kafka::RecordView;

void send_all(const Settings& settings, const std::string& topic, const std::vector<std::string>& values) {
  Producer producer(settings);
  for (const std::string& value : values) {
    const kafka::Delivery delivery = producer.send({topic, "P1", value, {}}, 20s);
    ASSERT_TRUE(delivery.delivered) << delivery.message;
  }
}

std::vector<std::string> values_in(Reader& reader, const std::vector<PartitionRange>& ranges) {
  std::vector<std::string> values;
  reader.read(ranges, [&](const RecordView& record) {
    values.emplace_back(record.value);
    return true;
  });
  return values;
}

template <class Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::internal, "", ""};
}

TEST_F(KafkaTest, AMissingTopicHasNoRangesAndIsNotMade) {
  const std::string topic = new_topic_name();
  Reader reader(settings(), topic, "readers");
  EXPECT_EQ(reader.ranges(), std::nullopt);
  EXPECT_EQ(kafka::Admin(settings()).partitions(topic), std::nullopt);
}

TEST_F(KafkaTest, RangesOfSeveralPartitionsAreReadInOrderWithin) {
  const std::string topic = make_topic(4);
  Producer producer(settings());
  for (int number = 0; number < 200; ++number) {
    ASSERT_TRUE(producer.try_send({topic, "P" + std::to_string(number % 10), std::to_string(number), {}}, {}));
  }
  ASSERT_TRUE(producer.flush(20s));
  Reader reader(settings(), topic, "readers");
  std::map<std::int32_t, std::int64_t> last;
  std::map<std::string, int> last_of_key;
  int count = 0;
  reader.read(reader.ranges().value(), [&](const RecordView& record) {
    ++count;
    EXPECT_GE(record.offset, last[record.partition]);
    last[record.partition] = record.offset;
    int& previous = last_of_key[std::string(record.key)];
    EXPECT_GE(std::stoi(std::string(record.value)), previous);
    previous = std::stoi(std::string(record.value));
    return true;
  });
  EXPECT_EQ(count, 200);
}

TEST_F(KafkaTest, WhatComesAfterTheRangeIsNotVisited) {
  const std::string topic = make_topic();
  send_all(settings(), topic, {"a", "b", "c"});
  Reader reader(settings(), topic, "readers");
  const auto ranges = reader.ranges().value();
  send_all(settings(), topic, {"d"});
  EXPECT_THAT(values_in(reader, ranges), ElementsAre("a", "b", "c"));
  EXPECT_THAT(values_in(reader, {{0, 1, 2, {}}}), ElementsAre("b"));
  EXPECT_THAT(values_in(reader, {{0, 2, 2, {}}}), IsEmpty());
  EXPECT_THAT(values_in(reader, {}), IsEmpty());
}

TEST_F(KafkaTest, AnEmptyTopicIsReadAtOnce) {
  const std::string topic = make_topic(2);
  Reader reader(settings(), topic, "readers");
  const auto ranges = reader.ranges().value();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[1].begin, 0);
  EXPECT_EQ(ranges[1].end, 0);
  EXPECT_EQ(ranges[1].committed, std::nullopt);
  EXPECT_THAT(values_in(reader, ranges), IsEmpty());
}

TEST_F(KafkaTest, AVisitorEndsTheReadingAndTheReaderCanBeUsedAgain) {
  const std::string topic = make_topic();
  send_all(settings(), topic, {"a", "b", "c"});
  Reader reader(settings(), topic, "readers");
  const auto ranges = reader.ranges().value();
  int count = 0;
  reader.read(ranges, [&](const RecordView&) { return ++count < 2; });
  EXPECT_EQ(count, 2);
  EXPECT_THROW(reader.read(ranges, [](const RecordView&) -> bool { throw std::runtime_error("visitor"); }),
               std::runtime_error);
  EXPECT_THAT(values_in(reader, ranges), ElementsAre("a", "b", "c"));
}

TEST_F(KafkaTest, CommitsAreThereForTheNextReaderOfTheGroupAlone) {
  const std::string topic = make_topic(2);
  send_all(settings(), topic, {"a", "b", "c"});
  std::int32_t partition = -1;
  {
    Reader reader(settings(), topic, "drain");
    reader.read(reader.ranges().value(), [&](const RecordView& record) {
      partition = record.partition;
      return true;
    });
    reader.commit(partition, 1);
    reader.commit(partition, 2);
    EXPECT_EQ(reader.ranges()->at(static_cast<std::size_t>(partition)).committed, 2);
  }
  EXPECT_EQ(Reader(settings(), topic, "drain").ranges()->at(static_cast<std::size_t>(partition)).committed, 2);
  EXPECT_EQ(Reader(settings(), topic, "drain").ranges()->at(static_cast<std::size_t>(1 - partition)).committed,
            std::nullopt);
  EXPECT_EQ(Reader(settings(), topic, "other").ranges()->at(static_cast<std::size_t>(partition)).committed,
            std::nullopt);
  broker().restart();
  Reader reader(settings(), topic, "drain");
  EXPECT_EQ(reader.ranges()->at(static_cast<std::size_t>(partition)).committed, 2) << "after a restart";
  reader.commit(partition, 3);
}

TEST_F(KafkaTest, DeletedRecordsAreSkipped) {
  const std::string topic = make_topic();
  send_all(settings(), topic, {"a", "b", "c", "d"});
  Reader reader(settings(), topic, "readers");
  const auto before = reader.ranges().value();
  kafka::Admin admin(settings());
  admin.delete_records(topic, 0, 2);
  EXPECT_EQ(reader.ranges()->at(0).begin, 2);
  EXPECT_THAT(values_in(reader, before), ElementsAre("c", "d")) << "asked for before the deletion";
  admin.delete_records(topic, 0, 2);
  admin.delete_records(topic, 0, 4);
  EXPECT_EQ(reader.ranges()->at(0).begin, 4);
  EXPECT_THAT(values_in(reader, before), IsEmpty());
}

TEST_F(KafkaTest, GapsOfCompactionAreSkipped) {
  const std::string topic = make_topic(1, {{"cleanup.policy", "compact"},
                                           {"segment.ms", "1"},
                                           {"min.cleanable.dirty.ratio", "0.001"},
                                           {"max.compaction.lag.ms", "1"}});
  Producer producer(settings());
  for (int number = 0; number < 30; ++number) {
    ASSERT_TRUE(
        producer
            .send({topic, number % 10 == 9 ? "kept-" + std::to_string(number) : "P1", std::to_string(number), {}}, 20s)
            .delivered);
  }
  Reader reader(settings(), topic, "readers");
  std::vector<std::string> values;
  EXPECT_TRUE(wait_until([&] { return (values = values_in(reader, reader.ranges().value())).size() < 10; }, 30s));
  EXPECT_THAT(values, ::testing::IsSupersetOf({"9", "19", "29"}));
  EXPECT_EQ(reader.ranges()->at(0).end, 30);
}

// A producer of somebody else, with transactions.
class Transactions {
 public:
  explicit Transactions(const std::string& bootstrap) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char reason[256];
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), reason, sizeof reason);
    rd_kafka_conf_set(conf, "transactional.id", "somebody", reason, sizeof reason);
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    check(rd_kafka_init_transactions(client_, 20'000));
  }
  ~Transactions() { rd_kafka_destroy(client_); }
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;

  void begin() { check(rd_kafka_begin_transaction(client_)); }
  void send(const std::string& topic, std::string value) {
    ASSERT_EQ(rd_kafka_producev(client_, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_VALUE(value.data(), value.size()),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
              RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_flush(client_, 10'000);
  }
  void commit() { check(rd_kafka_commit_transaction(client_, 20'000)); }
  void abort() { check(rd_kafka_abort_transaction(client_, 20'000)); }

 private:
  static void check(rd_kafka_error_t* error) { ASSERT_EQ(error, nullptr) << rd_kafka_error_string(error); }

  rd_kafka_t* client_ = nullptr;
};

TEST_F(KafkaTest, TransactionsAtTheEndDoNotHoldTheReadingUp) {
  const std::string topic = make_topic();
  send_all(settings(), topic, {"a"});
  Transactions others(broker().bootstrap());
  others.begin();
  others.send(topic, "committed");
  others.commit();
  others.begin();
  others.send(topic, "aborted 1");
  others.send(topic, "aborted 2");
  others.abort();
  Reader reader(settings(), topic, "readers");
  // The broker marks the ends of transactions in its own time: they end for their client before.
  const auto reaches = [&](std::int64_t end) {
    return wait_until([&] { return reader.ranges().value().at(0).end == end; });
  };
  ASSERT_TRUE(reaches(6)) << "four records and two marks";
  EXPECT_THAT(values_in(reader, reader.ranges().value()), ElementsAre("a", "committed"));

  others.begin();
  others.send(topic, "open");
  EXPECT_THAT(values_in(reader, reader.ranges().value()), ElementsAre("a", "committed"));
  others.commit();
  ASSERT_TRUE(reaches(8));
  EXPECT_THAT(values_in(reader, reader.ranges().value()), ElementsAre("a", "committed", "open"));
}

TEST_F(KafkaTest, ASilentBrokerEndsTheReadingInTime) {
  const std::string topic = make_topic();
  send_all(settings(), topic, {"a"});
  Reader reader(settings(), topic, "readers");
  auto ranges = reader.ranges().value();
  broker().pause();
  const Error error = error_of([&] {
    reader.read(
        ranges, [](const RecordView&) { return true; }, 1s);
  });
  EXPECT_EQ(error.code(), ErrorCode::kafka_unavailable);
  EXPECT_THAT(error.what(), HasSubstr(topic));
  broker().resume();
  EXPECT_THAT(values_in(reader, ranges), ElementsAre("a"));
  // An end that the topic has not: nobody may conclude that there is nothing.
  ranges[0].end = 5;
  EXPECT_EQ(error_of([&] {
              reader.read(
                  ranges, [](const RecordView&) { return true; }, 500ms);
            }).code(),
            ErrorCode::kafka_unavailable);
}

TEST_F(KafkaTest, WithoutAnAnswerEveryCallEndsAndSaysWhy) {
  const std::string topic = make_topic();
  const std::string nowhere = "127.0.0.1:" + std::to_string(free_ports(1).front());
  Reader reader(settings(), topic, "readers");
  reader.commit(0, 0);
  kafka::Admin admin(settings());
  broker().pause();
  const auto begun = std::chrono::steady_clock::now();
  auto commit = std::async(std::launch::async, [&] { return error_of([&] { reader.commit(0, 0); }); });
  auto partitions = std::async(std::launch::async, [&] { return error_of([&] { admin.partitions(topic); }); });
  auto ranges = std::async(std::launch::async,
                           [&] { return error_of([&] { Reader(settings_for(nowhere), topic, "readers").ranges(); }); });
  EXPECT_EQ(commit.get().code(), ErrorCode::kafka_unavailable);
  EXPECT_EQ(partitions.get().code(), ErrorCode::kafka_unavailable);
  const Error error = ranges.get();
  EXPECT_EQ(error.code(), ErrorCode::kafka_unavailable);
  EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("cannot look for topic " + topic), HasSubstr(nowhere),
                                             HasSubstr("no broker answers"), HasSubstr("Connection refused")));
  EXPECT_THAT(error.hint(), HasSubstr("kafka.bootstrap.servers"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s);
  broker().resume();
  reader.commit(0, 0);
  EXPECT_EQ(reader.ranges()->at(0).committed, 0);
}

TEST_F(KafkaTest, ATopicIsMadeOnce) {
  const std::string topic = new_topic_name();
  kafka::Admin admin(settings());
  EXPECT_TRUE(admin.create({topic, 3, -1, {{"max.message.bytes", "2000000"}}}));
  EXPECT_FALSE(admin.create({topic, 5, 1, {}}));
  EXPECT_EQ(admin.partitions(topic), 3);
}

TEST_F(KafkaTest, TheAdminSaysWhatTheBrokerRefuses) {
  const std::string topic = make_topic();
  kafka::Admin admin(settings());
  const Error setting = error_of([&] { admin.create({new_topic_name(), 1, 1, {{"no.such.setting", "1"}}}); });
  EXPECT_EQ(setting.code(), ErrorCode::kafka_rejected);
  EXPECT_THAT(setting.what(), HasSubstr("no.such.setting"));
  EXPECT_EQ(error_of([&] { admin.create({"not/a/name", 1, 1, {}}); }).code(), ErrorCode::kafka_rejected);
  EXPECT_EQ(error_of([&] { admin.create({new_topic_name(), 0, 1, {}}); }).code(), ErrorCode::kafka_rejected);
  EXPECT_EQ(error_of([&] { admin.create({new_topic_name(), 1, 3, {}}); }).code(), ErrorCode::kafka_rejected);
  const Error records = error_of([&] { admin.delete_records(topic, 0, 100); });
  EXPECT_EQ(records.code(), ErrorCode::kafka_rejected);
  EXPECT_THAT(records.what(), HasSubstr(topic));
}

}  // namespace
}  // namespace forelock::test
