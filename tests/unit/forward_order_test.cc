// The letters of a monitor reach the topic in their order, whatever happens to some of them on the way.
#include "forward/forwarder.h"
#include "kafka/reader.h"
#include "letter/letter_json.h"
#include "mock_cluster.h"
#include "outbox/file_lock.h"
#include "outbox/outbox.h"
#include "sample_letter.h"
#include "support/log_lines.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::forward {
namespace {

constexpr const char* topic = "letters";

class ForwardOrderTest : public ::testing::Test {
 protected:
  ForwardOrderTest() { cluster_.make_topic(topic); }

  std::filesystem::path path() const { return directory_.path() / "outbox.db"; }
  Settings settings(std::initializer_list<std::pair<std::string, std::string>> more = {}) const {
    Settings all;
    all.set("dlq.topic", topic);
    all.set("kafka.bootstrap.servers", cluster_.bootstrap());
    for (const auto& [key, value] : more) all.set(key, value);
    return all;
  }
  // Letters of one monitor.
  void add(int count, const std::string& payload = "x") {
    for (int i = 0; i < count; ++i) {
      added_.push_back(std::to_string(added_.size() + 1));
      outbox_.add(test::sample_letter(added_.back(), payload));
    }
  }
  // The ids that are in the topic, those that are there twice where they are first.
  std::vector<std::string> arrived() const {
    std::vector<std::string> ids;
    kafka::Reader reader(settings(), topic, "readers");
    reader.read(reader.ranges().value(), [&](const kafka::RecordView& record) {
      const std::string id = letter::from_json(std::string(record.value)).id;
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
      return true;
    });
    return ids;
  }

  test::TemporaryDirectory directory_;
  test::LogLines log_;
  test::MockCluster cluster_;
  outbox::Outbox outbox_{{.path = path()}};
  std::vector<std::string> added_;
};

TEST_F(ForwardOrderTest, ALapseOfAuthorization) {
  constexpr int letters = 20;
  add(letters);
  cluster_.set_round_trip(200ms);  // all of them are under way when the first answer comes
  cluster_.answer_records_with(std::vector(1000, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED));
  Forwarder forwarder(settings(), outbox_, log_.sink());
  ASSERT_TRUE(test::wait_until([&] { return forwarder.state().failures >= letters; })) << log_.text();
  cluster_.answer_records_well();
  cluster_.set_round_trip(0ms);
  EXPECT_TRUE(test::wait_until([&] { return outbox_.depth().rows == 0; })) << log_.text();
  EXPECT_EQ(arrived(), added_);
}

// The client is replaced while the forwarder waits for the outbox, behind its look at what has failed.
TEST_F(ForwardOrderTest, AClientThatIsReplacedUnderTheForwardersHands) {
  add(10);
  cluster_.answer_second_records_with(RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, 1s);
  Forwarder forwarder(settings({{"kafka.batch.num.messages", "5"}, {"kafka.debug", "broker"}}), outbox_, log_.sink());
  ASSERT_TRUE(test::wait_until([&] { return forwarder.state().delivered > 0; })) << log_.text();
  add(1);
  outbox::FileLock busy(path().string() + ".lock", path());
  ASSERT_TRUE(busy.own(5s));
  forwarder.wake();
  ASSERT_TRUE(test::wait_until([&] {
    const std::string text = log_.text();
    const std::size_t replaced = text.find("is replaced");
    return replaced != text.npos && text.find("Connected", replaced) != text.npos;
  })) << log_.text();
  busy.release();
  EXPECT_TRUE(test::wait_until([&] { return outbox_.depth().rows == 0; })) << log_.text();
  EXPECT_EQ(arrived(), added_);
}

TEST_F(ForwardOrderTest, ALetterThatIsLargerThanTheWholeQueueOfTheClientIsRefusedAndBlocksNobody) {
  add(1);
  add(1, std::string(100'000, 'x'));
  add(1);
  Forwarder forwarder(settings({{"kafka.queue.buffering.max.kbytes", "64"}}), outbox_, log_.sink());
  EXPECT_TRUE(test::wait_until([&] { return outbox_.depth().rows == 1; })) << log_.text();
  EXPECT_TRUE(test::wait_until([&] { return forwarder.state().refused == 1; }));
  EXPECT_THAT(forwarder.state().last_problem,
              AllOf(HasSubstr("dead letter 2 "), HasSubstr("kafka.queue.buffering.max.kbytes")));
  EXPECT_THAT(arrived(), ElementsAre("1", "3"));
}

// What comes behind a record that is refused at once is not taken before its callback has told that.
TEST(ProducerTest, TakesNothingWhileARefusalIsUntold) {
  test::MockCluster cluster;
  cluster.answer_topic_with("missing", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  Settings settings;
  settings.set("kafka.bootstrap.servers", cluster.bootstrap());
  settings.set("kafka.topic.metadata.propagation.max.ms", "1");
  std::promise<void> known;
  std::promise<void> told;
  std::promise<void> go_on;
  kafka::Producer producer(settings);
  const kafka::Record record{"missing", "P1", "x", {}};
  ASSERT_TRUE(producer.try_send(record, [&](const kafka::Delivery&) { known.set_value(); }));
  known.get_future().wait();  // from here on the topic is known not to be there
  ASSERT_TRUE(producer.try_send(record, [&](const kafka::Delivery&) {
    told.set_value();
    go_on.get_future().wait();
  }));
  EXPECT_FALSE(producer.try_send(record, {}));
  told.get_future().wait();
  EXPECT_FALSE(producer.try_send(record, {}));
  go_on.set_value();
  EXPECT_TRUE(test::wait_until([&] { return producer.try_send(record, {}); }));
}

}  // namespace
}  // namespace forelock::forward
