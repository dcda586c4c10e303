// The producer when the broker is away, dies, falls silent, or lacks the topic.
#include "kafka/producer.h"
#include "kafka/reader.h"
#include "kafka_fixture.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using kafka::Delivery;
using kafka::Producer;
using kafka::Reader;
using kafka::RecordView;

std::set<std::string> values_in(const Settings& settings, const std::string& topic) {
  std::set<std::string> values;
  Reader reader(settings, topic, "readers");
  reader.read(reader.ranges().value(), [&](const RecordView& record) {
    values.emplace(record.value);
    return true;
  });
  return values;
}

TEST_F(KafkaTest, ABrokerThatIsDownAtTheStartIsWaitedFor) {
  const std::string topic = make_topic();
  broker().kill();
  LogLines log;
  Producer producer(settings(), log.sink());
  std::atomic<int> delivered = 0;
  ASSERT_TRUE(producer.try_send({topic, "P1", "x", {}},
                                [&](const Delivery& delivery) { delivered += delivery.delivered ? 1 : 0; }));
  EXPECT_TRUE(wait_until([&] { return !producer.last_problem().empty(); }));
  EXPECT_THAT(producer.last_problem(), HasSubstr("Connection refused"));
  EXPECT_THAT(log.text(), HasSubstr(broker().bootstrap()));
  EXPECT_EQ(delivered, 0);
  broker().restart();
  EXPECT_TRUE(producer.flush(25s));
  EXPECT_EQ(delivered, 1);
}

TEST_F(KafkaTest, ABrokerThatStaysDownFailsTheDeliveryInTime) {
  const std::string topic = make_topic();
  broker().kill();
  LogLines log;
  Producer producer(settings({{"message.timeout.ms", "1500"}}), log.sink());
  const Delivery delivery = producer.send({topic, "P1", "x", {}}, 2s);
  EXPECT_FALSE(delivery.delivered);
  EXPECT_FALSE(delivery.permanent);
  EXPECT_THAT(delivery.message, HasSubstr("Connection refused"));
  EXPECT_LT(log.count(), 25U) << "a broker that is down must not flood the log:\n" << log.text();
}

TEST_F(KafkaTest, EveryCallbackComesOnceWhileTheBrokerIsKilled) {
  constexpr std::size_t records = 10'000;
  const std::string topic = make_topic(3);
  std::vector<std::atomic<int>> called(records);
  std::vector<std::atomic<bool>> delivered(records);
  std::atomic<std::size_t> total = 0;
  {
    Producer producer(settings());
    for (std::size_t index = 0; index < records; ++index) {
      if (index == records / 2) {
        ASSERT_TRUE(wait_until([&] { return total > 100; })) << "the broker was at work";
        broker().kill();
      }
      ASSERT_TRUE(producer.try_send({topic, "P" + std::to_string(index % 97), std::to_string(index), {}},
                                    [&, index](const Delivery& delivery) {
                                      ++called[index];
                                      delivered[index] = delivery.delivered;
                                      ++total;
                                    }));
    }
    broker().restart();
    EXPECT_TRUE(producer.flush(40s));
  }
  EXPECT_EQ(total, records);
  EXPECT_THAT(called, Each(::testing::Eq(1)));
  const std::set<std::string> values = values_in(settings(), topic);
  for (std::size_t index = 0; index < records; ++index) {
    EXPECT_TRUE(!delivered[index] || values.contains(std::to_string(index))) << index << " is lost";
  }
}

TEST_F(KafkaTest, ClosingTellsEverybodyWhatIsNotDelivered) {
  constexpr int records = 100;
  const std::string topic = make_topic();
  broker().kill();
  std::atomic<int> called = 0;
  std::atomic<int> delivered = 0;
  {
    Producer producer(settings());
    for (int index = 0; index < records; ++index) {
      ASSERT_TRUE(producer.try_send({topic, "P1", "x", {}}, [&](const Delivery& delivery) {
        ++called;
        delivered += delivery.delivered ? 1 : 0;
        if (called == 1) throw std::runtime_error("a callback's own trouble");
      }));
    }
  }
  EXPECT_EQ(called, records);
  EXPECT_EQ(delivered, 0);
}

TEST_F(KafkaTest, ASilentBrokerDelaysOrFailsButNeverHangs) {
  const std::string topic = make_topic();
  Producer producer(settings({{"socket.timeout.ms", "1000"}, {"message.timeout.ms", "3000"}}));
  ASSERT_TRUE(producer.send({topic, "P1", "before", {}}, 20s).delivered);
  broker().pause();
  std::atomic<int> called = 0;
  std::atomic<bool> delivered = true;
  ASSERT_TRUE(producer.try_send({topic, "P1", "meanwhile", {}}, [&](const Delivery& delivery) {
    delivered = delivery.delivered;
    ++called;
  }));
  EXPECT_TRUE(producer.flush(15s));
  EXPECT_EQ(called, 1);
  EXPECT_FALSE(delivered);
  broker().resume();
  // The library may have to begin anew with the broker; the record that timed out may be in the topic all the same.
  const Delivery after = producer.send({topic, "P1", "after", {}}, 20s);
  EXPECT_TRUE(after.delivered) << after.message;
  EXPECT_THAT(values_in(settings(), topic), ::testing::IsSupersetOf({"before", "after"}));
}

TEST_F(KafkaTest, AMissingTopicIsAPassingFailureAndUsedOnceItIsMade) {
  const std::string topic = new_topic_name();
  Producer producer(settings({{"topic.metadata.propagation.max.ms", "200"}}));
  const Delivery before = producer.send({topic, "P1", "x", {}}, 1500ms);
  EXPECT_FALSE(before.delivered);
  EXPECT_FALSE(before.permanent);
  EXPECT_THAT(before.message, HasSubstr(topic));
  EXPECT_THAT(before.message, AnyOf(HasSubstr("Unknown topic"), HasSubstr("nknown partition")));
  kafka::Admin(settings()).create({topic, 1, 1, {}});
  const Delivery after = producer.send({topic, "P1", "x", {}}, 10s);
  EXPECT_TRUE(after.delivered) << after.message;
}

}  // namespace
}  // namespace forelock::test
