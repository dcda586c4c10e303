// What only a topic has: offsets, what is written beside it, letters that come back, and a broker that goes away.
#include "drain/kafka_store.h"
#include "drain/open_store.h"
#include "drain/resolution_state.h"
#include "drain/store_topics.h"
#include "drain/topic_target.h"
#include "forelock/error.h"
#include "forelock/operation.h"
#include "integration/dead_letters.h"
#include "integration/drain_replays.h"
#include "kafka/admin.h"
#include "kafka/producer.h"
#include "kafka/reader.h"
#include "letter/letter_json.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using drain::Resolution;
using drain::TryOutcome;
using drain::TryResult;

class DrainTopicTest : public DrainReplayTest {
 protected:
  void reopen() { store_ = given_->open(); }
  void resolve(const std::string& id, Resolution resolution) {
    store_->resolve(contents_of(*store_).letter(id), resolution);
  }

  std::vector<TopicRecord> records(const std::string& suffix = "") {
    return read_topic(shared_broker().bootstrap(), topic_ + suffix);
  }
  // What the topic still has, read from its beginning.
  std::vector<std::string> ids_left() {
    std::vector<std::string> ids;
    kafka::Reader reader(settings(), topic_, drain::drain_group);
    reader.read(reader.ranges().value(), [&](const kafka::RecordView& record) {
      ids.push_back(letter::from_json(record.value).id);
      return true;
    });
    return ids;
  }
  std::optional<std::int32_t> partitions(const std::string& suffix) {
    return kafka::Admin(settings()).partitions(topic_ + suffix);
  }
  // Summed over all partitions.
  std::int64_t committed(const std::string& suffix = "") {
    std::int64_t sum = 0;
    const auto ranges = kafka::Reader(settings(), topic_ + suffix, drain::drain_group).ranges();
    for (const auto& range : ranges.value()) sum += range.committed.value_or(range.begin);
    return sum;
  }
  // Id and value, the last of each key.
  std::map<std::string, std::string> resolutions() {
    std::map<std::string, std::string> last;
    for (const auto& record : records(".resolved")) last[record.key.substr(0, record.key.find('@'))] = record.value;
    return last;
  }
  void produce(const std::string& suffix, const DeadLetter& letter) {
    kafka::Producer producer(settings());
    EXPECT_TRUE(producer.send({topic_ + suffix, letter.monitor, letter::to_json(letter), {}}, 30s).delivered);
  }

  const std::string topic_ = settings().dlq_topic();
  std::unique_ptr<drain::LetterStore> store_ = given_->open();
};

TEST_P(DrainTopicTest, LookingMakesNoTopics) {
  given_->add(example_letter("one"));
  contents_of(*store_);
  parked_in(*store_);
  store_->find("one");
  store_->settle();
  EXPECT_FALSE(partitions(".resolved"));
  EXPECT_FALSE(partitions(".parking"));
}

TEST_P(DrainTopicTest, WhatTheTopicHasNotTakenIsNotRemembered) {
  given_->add(example_letter("one"));
  const auto letter = contents_of(*store_).letter("one");
  std::uint32_t tries = 0;
  const auto is_taken = [&] {
    try {
      tries = store_->begin_try(letter);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  ASSERT_TRUE(wait_until(is_taken, 30s));
  kafka::Admin admin(settings());
  admin.alter(topic_ + ".resolved", {{"max.message.bytes", "1"}});
  ASSERT_TRUE(wait_until([&] { return !is_taken(); }, 30s)) << "the setting gets about";
  EXPECT_FALSE(is_taken());
  const std::uint32_t before = tries;
  admin.alter(topic_ + ".resolved", {{"max.message.bytes", "1048588"}});
  ASSERT_TRUE(wait_until(is_taken, 30s));
  EXPECT_EQ(tries, before + 1);
}

TEST_P(DrainTopicTest, WhatIsWrittenBesideTheTopic) {
  given_->add({example_letter("one"), example_letter("two", "P2"), example_letter("three")});
  given_->add_record("P4", "garbage");
  const auto before = contents_of(*store_);
  store_->begin_try(before.letter("one"));
  EXPECT_THAT(resolutions(), ElementsAre(Pair("one", "trying 1")));
  store_->resolve(before.letter("one"), Resolution::replayed);
  store_->resolve(before.letter("two"), Resolution::parked);
  store_->resolve(before.letter("three"), Resolution::purged);
  store_->resolve(before.unreadable.at(0), Resolution::purged);
  EXPECT_THAT(resolutions(),
              UnorderedElementsAre(Pair("one", "replayed"), Pair("two", "parked"), Pair("three", "purged"),
                                   Pair("position:" + before.unreadable.at(0).position, "purged")));
  EXPECT_EQ(partitions(".resolved"), 1);
  EXPECT_EQ(partitions(".parking"), partitions(""));

  const auto parked = records(".parking");
  ASSERT_THAT(parked, SizeIs(1));
  const auto all = records();
  const auto original = std::find_if(all.begin(), all.end(), [](const auto& record) { return record.key == "P2"; });
  ASSERT_NE(original, all.end());
  EXPECT_EQ(parked[0].key, original->key);
  EXPECT_EQ(parked[0].value, original->value);
  EXPECT_EQ(parked[0].headers, original->headers);
  EXPECT_EQ(parked[0].partition, original->partition);
}

TEST_P(DrainTopicTest, OnlyTheResolvedPrefixIsCommittedAndDeleted) {
  for (int i = 0; i < 6; ++i) given_->add(example_letter("id-" + std::to_string(i)));
  const auto before = contents_of(*store_);
  for (const char* id : {"id-0", "id-1", "id-3", "id-4"}) store_->resolve(before.letter(id), Resolution::replayed);
  store_->settle();
  EXPECT_EQ(committed(), 2);
  EXPECT_THAT(ids_left(), SizeIs(6)) << "nothing is deleted by the way";
  reopen();
  EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("id-2", "id-5"));

  EXPECT_EQ(store_->delete_resolved(), 2u);
  EXPECT_THAT(ids_left(), ElementsAre("id-2", "id-3", "id-4", "id-5"));
  reopen();
  EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("id-2", "id-5"));
  resolve("id-2", Resolution::replayed);
  store_->settle();
  EXPECT_EQ(committed(), 5) << "the hole has been closed";
  resolve("id-5", Resolution::replayed);
  EXPECT_EQ(store_->delete_resolved(), 4u);
  EXPECT_THAT(ids_left(), IsEmpty());
  EXPECT_EQ(committed(), 6);
}

// The copies of letters that are put back stand behind one another. Of some an earlier copy is still read, of others it
// lies before the committed offset.
TEST_P(DrainTopicTest, LettersThatArePutBackTogetherKeepTheirOrder) {
  given_->add({example_letter("0", "P"), example_letter("1", "P"), example_letter("other", "P0")});
  given_->add({example_letter("2", "P"), example_letter("3", "P")});
  const auto before = contents_of(*store_);
  resolve("0", Resolution::replayed);
  for (const char* id : {"1", "2", "3"}) store_->resolve(before.letter(id), Resolution::purged);
  // P0 may be in another partition: the committed offset is that of 2, as if another one stood before it.
  kafka::Reader reader(settings(), topic_, drain::drain_group);
  for (const auto& record : records()) {
    if (letter::from_json(record.value).id == "2") reader.commit(record.partition, record.offset);
  }
  reopen();
  EXPECT_THAT(contents_of(*store_).ids_of("P"), IsEmpty());
  for (const char* id : {"1", "2", "3"}) EXPECT_TRUE(store_->restore(before.letter(id)));
  reopen();
  EXPECT_THAT(contents_of(*store_).ids_of("P"), ElementsAre("1", "2", "3"));
  // A replay that has begun does not bring the earlier copies back.
  store_->begin_try(contents_of(*store_).letter("1"));
  store_->begin_try(contents_of(*store_).letter("2"));
  reopen();
  EXPECT_THAT(contents_of(*store_).ids_of("P"), ElementsAre("1", "2", "3"));
  EXPECT_EQ(contents_of(*store_).letter("2").tries, 1u);
}

// What says where they stand outlives the topic.
TEST_P(DrainTopicTest, LettersThatWerePutBackAreNotLostWithTheirCopy) {
  given_->add({example_letter("1", "P"), example_letter("2", "P")});
  const auto before = contents_of(*store_);
  resolve("1", Resolution::purged);
  EXPECT_TRUE(store_->restore(before.letter("1")));
  reopen();
  EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("2", "1"));
  const std::string place = resolutions().at("1");
  const auto slash = place.find('/');
  const auto partition_at = place.rfind(' ', slash) + 1;
  const std::string other = std::to_string(std::stoi(place.substr(partition_at)) + 1);
  kafka::Producer producer(settings());
  // Behind all that is there, or in another partition.
  for (const std::string& nowhere : {place.substr(0, slash) + "/4711", place.substr(0, partition_at) + other + "/0"}) {
    const std::string key = drain::resolution_key(before.letter("1").letter);
    ASSERT_TRUE(producer.send({topic_ + ".resolved", key, nowhere, {}}, 30s).delivered);
    reopen();
    EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("2", "1")) << nowhere;
  }
}

TEST_P(DrainTopicTest, DeletedLettersAreForgotten) {
  for (int i = 0; i < 5; ++i) given_->add(example_letter("id-" + std::to_string(i)));
  given_->add_duplicate(example_letter("id-0"));
  const auto before = contents_of(*store_);
  for (const char* id : {"id-0", "id-1", "id-2"}) store_->begin_try(before.letter(id));
  for (const char* id : {"id-0", "id-1"}) store_->resolve(before.letter(id), Resolution::replayed);
  store_->resolve(before.letter("id-2"), Resolution::parked);
  EXPECT_EQ(store_->delete_resolved(), 3u);
  EXPECT_THAT(resolutions(), UnorderedElementsAre(Pair("id-0", "replayed"), Pair("id-1", ""), Pair("id-2", "parked")))
      << "id-0 has a duplicate that is still there, id-2 stands in the parking place";
  reopen();
  EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("id-3", "id-4"));
  EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("id-2"));
  // A tombstone says nothing, also where the broker has not compacted yet.
  given_->add(example_letter("id-1"));
  EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("id-3", "id-4", "id-1"));
}

TEST_P(DrainTopicTest, ParkedLettersAreCommittedAndDeletedToo) {
  for (int i = 0; i < 3; ++i) given_->add(example_letter("id-" + std::to_string(i)));
  for (int i = 0; i < 3; ++i) resolve("id-" + std::to_string(i), Resolution::parked);
  const auto parked = parked_in(*store_);
  store_->resolve(parked.letter("id-0"), Resolution::replayed);
  store_->resolve(parked.letter("id-2"), Resolution::purged);
  store_->settle();
  EXPECT_EQ(committed(".parking"), 1);
  EXPECT_EQ(store_->delete_resolved(), 4u) << "three of the queue, one of the parking place";
  reopen();
  EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("id-1"));
  EXPECT_THAT(contents_of(*store_).letters, IsEmpty());
}

// The process may be killed between the copy and the note about it.
TEST_P(DrainTopicTest, ACopyInTheParkingPlaceIsNotEnough) {
  const DeadLetter letter = example_letter("one");
  given_->add({letter, example_letter("two")});
  resolve("two", Resolution::parked);  // makes the topic
  produce(".parking", letter);
  reopen();
  EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("one"));
  EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("two"));
  store_->settle();
  resolve("one", Resolution::parked);
  reopen();
  EXPECT_THAT(contents_of(*store_).letters, IsEmpty());
  EXPECT_THAT(parked_in(*store_).ids(), UnorderedElementsAre("one", "two"))
      << "and the second copy is no second letter";
}

// An id that is used again: another letter, whatever became of the one before.
TEST_P(DrainTopicTest, ALaterLetterWithTheSameIdIsAnother) {
  DeadLetter letter = example_letter("nightly");
  given_->add(letter);
  resolve("nightly", Resolution::purged);
  letter.failed_at += std::chrono::milliseconds(1);
  letter.payload = "other";
  given_->add(letter);
  reopen();
  ASSERT_THAT(contents_of(*store_).ids(), ElementsAre("nightly"));
  EXPECT_EQ(contents_of(*store_).letters[0].letter.payload, "other");
  resolve("nightly", Resolution::replayed);
  reopen();
  EXPECT_THAT(contents_of(*store_).letters, IsEmpty());
}

// A drainer in whose name the test writes.
class ExampleDrainer final : public drain::DrainerProof {
 public:
  explicit ExampleDrainer(std::uint64_t token) : token_(token) {}
  std::uint64_t token() const override { return token_; }
  void check_health() const override {
    if (lost) throw LockUnhealthyException(ErrorCode::lock_unhealthy, "drainer", "the drainer's lock was lost");
  }
  bool lost = false;

 private:
  const std::uint64_t token_;
};

// Stopped between its look at the lock and its write, for as long as the next drainer needs.
TEST_P(DrainTopicTest, ALateWriteChangesNothing) {
  given_->add(example_letter("one"));
  const ExampleDrainer late(100);
  store_->set_drainer(&late);
  const auto seen = contents_of(*store_).letter("one");
  store_->begin_try(seen);
  const auto next_store = given_->open();
  const ExampleDrainer next(101);
  next_store->set_drainer(&next);
  next_store->resolve(contents_of(*next_store).letter("one"), Resolution::parked);
  next_store->settle();
  store_->take_back_try(seen);
  EXPECT_EQ(resolutions()["one"], "trying 0 @100") << "the last record";
  reopen();
  EXPECT_THAT(contents_of(*store_).letters, IsEmpty());
  EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("one"));
  // Compaction would keep the late one: the next drainer writes over it.
  const ExampleDrainer third(102);
  store_->set_drainer(&third);
  store_->settle();
  EXPECT_EQ(resolutions()["one"], "parked @102");
}

TEST_P(DrainTopicTest, WithoutTheLockNothingIsWritten) {
  given_->add({example_letter("one"), example_letter("two")});
  ExampleDrainer drainer(100);
  store_->set_drainer(&drainer);
  const auto before = contents_of(*store_);
  store_->begin_try(before.letter("one"));
  drainer.lost = true;
  EXPECT_THROW(store_->begin_try(before.letter("two")), LockUnhealthyException);
  EXPECT_THROW(store_->take_back_try(before.letter("one")), LockUnhealthyException);
  EXPECT_THROW(store_->resolve(before.letter("two"), Resolution::parked), LockUnhealthyException);
  EXPECT_THROW(store_->resolve(before.letter("two"), Resolution::purged), LockUnhealthyException);
  EXPECT_THAT(resolutions(), ElementsAre(Pair("one", "trying 1 @100")));
  store_->resolve(before.letter("one"), Resolution::replayed);
  EXPECT_EQ(resolutions()["one"], "replayed @100") << "a fact, known by the letter's own lock";
}

// Servers that were replaced count from the beginning.
TEST_P(DrainTopicTest, ATokenThatBeganAnewCountsOnFromTheHighest) {
  given_->add({example_letter("one"), example_letter("two")});
  const ExampleDrainer before(5'000'000'000);
  store_->set_drainer(&before);
  store_->begin_try(contents_of(*store_).letter("one"));
  reopen();
  const ExampleDrainer anew(17);
  store_->set_drainer(&anew);
  store_->resolve(contents_of(*store_).letter("one"), Resolution::replayed);
  EXPECT_EQ(resolutions()["one"], "replayed @5000000001");
  reopen();
  EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("two"));
}

// What counts was lost by compaction, and the queue's copy lies before the committed offset: the copy is all there is.
TEST_P(DrainTopicTest, ACopyThatNothingElseKnowsOfIsSeen) {
  given_->add({example_letter("one"), example_letter("two")});
  resolve("one", Resolution::parked);
  store_->settle();
  kafka::Producer producer(settings());
  for (const auto& record : records(".resolved")) {
    ASSERT_TRUE(producer.send({topic_ + ".resolved", record.key, "trying 0", {}}, 30s).delivered);
  }
  reopen();
  EXPECT_THAT(contents_of(*store_).ids(), ElementsAre("two"));
  EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("one"));
  const auto found = store_->find("one");
  ASSERT_TRUE(found);
  EXPECT_EQ(store_->begin_try(*found), 1u);
  EXPECT_EQ(resolutions()["one"], "parked 1");
  store_->resolve(*found, Resolution::replayed);
  reopen();
  EXPECT_THAT(parked_in(*store_).letters, IsEmpty());
}

// Replayed into a topic and failed again there: the same id, but not the letter that is done with.
TEST_P(DrainTopicTest, ALetterThatComesBackIsOpenAgain) {
  DeadLetter letter = example_letter("one");
  given_->add(letter);
  resolve("one", Resolution::replayed);
  letter.replay_count = 1;
  given_->add(letter);
  reopen();
  auto open = contents_of(*store_);
  ASSERT_THAT(open.ids(), ElementsAre("one"));
  EXPECT_EQ(open.letters[0].letter.replay_count, 1u);
  EXPECT_EQ(store_->begin_try(open.letters[0]), 1u);
  reopen();
  EXPECT_THAT(contents_of(*store_).letters, SizeIs(1)) << "the first one stays closed";
  resolve("one", Resolution::parked);
  EXPECT_EQ(parked_in(*store_).letters.at(0).letter.replay_count, 1u);
  store_->resolve(parked_in(*store_).letter("one"), Resolution::replayed);
  reopen();
  EXPECT_THAT(contents_of(*store_).letters, IsEmpty());
  EXPECT_THAT(parked_in(*store_).letters, IsEmpty());
}

TEST_P(DrainTopicTest, LargeLettersArePassedOn) {
  DeadLetter letter = example_letter("large", "P1", Operation::max_payload_bytes);
  letter.payload.back() = '\n';
  given_->add(letter);
  EXPECT_EQ(contents_of(*store_).letter("large").letter.payload, letter.payload);
  resolve("large", Resolution::parked);
  reopen();
  EXPECT_EQ(parked_in(*store_).letter("large").letter.payload, letter.payload);
}

TEST_P(DrainTopicTest, MoreThanCanBeRemembered) {
  std::vector<DeadLetter> letters;
  for (int i = 0; i < 10; ++i) letters.push_back(example_letter("id-" + std::to_string(i)));
  given_->add(letters);
  for (int i = 0; i < 8; ++i) resolve("id-" + std::to_string(i), Resolution::replayed);
  const auto with_limit = [&](std::size_t ids) {
    return std::make_unique<drain::KafkaStore>(settings(), "drainer", LogSink{}, ids);
  };
  try {
    contents_of(*with_limit(7));
    ADD_FAILURE() << "nothing said";
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::kafka_rejected);
    EXPECT_THAT(problem.hint(), HasSubstr("kafka-delete-records.sh"));
  }
  // What is left when the letters have gone and their resolutions have not, as a crash or retention leaves it.
  store_->settle();
  const auto ranges = kafka::Reader(settings(), topic_, drain::drain_group).ranges().value();
  kafka::Admin admin(settings());
  for (const auto& range : ranges) {
    if (range.committed) admin.delete_records(topic_, range.partition, *range.committed);
  }
  EXPECT_THAT(contents_of(*with_limit(7)).ids(), ElementsAre("id-8", "id-9"));
  // More open letters than can be remembered are all visited; only duplicates are not noticed any more.
  given_->add_duplicate(letters[9]);
  EXPECT_THAT(contents_of(*with_limit(20)).ids(), ElementsAre("id-8", "id-9"));
}

TEST_P(DrainTopicTest, ATopicThatDoesNotExist) {
  const auto store = drain::open_store(queue_settings("/nowhere", shared_broker().bootstrap(), "Missing"),
                                       drain::StoreKind::configured);
  try {
    contents_of(*store);
    ADD_FAILURE() << "nothing said";
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::kafka_unavailable);
    EXPECT_THAT(problem.what(), HasSubstr("Missing"));
    EXPECT_THAT(problem.hint(), HasSubstr("dlq.topic"));
  }
}

TEST_P(DrainTopicTest, IntoAnotherTopic) {
  const std::string other = topic_ + "-work";
  make_topic(shared_broker(), other, 2);
  DeadLetter letter = example_letter("one", "Pü");
  letter.replay_count = 4;
  given_->add(letter);
  EXPECT_EQ(replay(drain::topic_target(settings(), other)).replayed, 1u);
  EXPECT_THAT(contents().letters, IsEmpty());
  const auto arrived = read_topic(shared_broker().bootstrap(), other);
  ASSERT_THAT(arrived, SizeIs(1));
  EXPECT_EQ(arrived[0].key, "Pü");
  EXPECT_EQ(arrived[0].header("ce_id"), "one");
  EXPECT_EQ(arrived[0].header("dlq_replay_count"), "5");
  DeadLetter read = letter::from_json(arrived[0].value);
  EXPECT_EQ(read.id, "one");
  EXPECT_EQ(read.replay_count, 5u);
  EXPECT_EQ(read.payload, letter.payload);
}

TEST_P(DrainTopicTest, NotIntoTheQueuesOwnTopics) {
  for (const char* suffix : {"", ".resolved", ".parking"}) {
    try {
      drain::topic_target(settings(), topic_ + suffix);
      ADD_FAILURE() << suffix << " accepted";
    } catch (const RequestRejectedException& problem) {
      EXPECT_EQ(problem.code(), ErrorCode::invalid_argument);
      EXPECT_THAT(problem.what(), HasSubstr(topic_ + suffix));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, DrainTopicTest, ::testing::Values("kafka"),
                         [](const auto& each) { return each.param; });

// These take their broker away.
class DrainOutageTest : public DrainTopicTest {
 protected:
  void TearDown() override {
    if (!shared_broker().running()) shared_broker().restart();
  }
};

TEST_P(DrainOutageTest, ABrokerThatComesBackInTimeIsNotNoticed) {
  given_->add(example_letters(12, 3));
  std::atomic<int> calls = 0;
  std::atomic<bool> away = false;
  auto running = std::async(std::launch::async, [&] {
    return replay([&](const drain::StoredLetter&, WriteLock&, std::stop_token) {
      if (++calls > 3) wait_until([&] { return away.load(); });
      return TryResult{TryOutcome::done, ""};
    });
  });
  EXPECT_TRUE(wait_until([&] { return calls > 3; }));
  shared_broker().kill();
  away = true;
  shared_broker().restart();
  const auto report = running.get();
  EXPECT_EQ(report.replayed, 12u);
  EXPECT_EQ(calls, 12);
  EXPECT_THAT(contents().letters, IsEmpty());
}

TEST_P(DrainOutageTest, ABrokerThatStaysAwayEndsTheReplayAndNothingIsSaidToBeDoneThatIsNot) {
  given_->add(example_letters(12, 3));
  std::atomic<int> calls = 0;
  try {
    replay([&](const drain::StoredLetter&, WriteLock&, std::stop_token) {
      if (++calls == 5) shared_broker().kill();
      return TryResult{TryOutcome::done, ""};
    });
    ADD_FAILURE() << "nothing said";
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::kafka_unavailable);
    EXPECT_THAT(problem.hint(), ::testing::Not(IsEmpty()));
  }
  const auto said = record_.ids(drain::ReplayObserver::Event::replayed);
  EXPECT_LT(said.size(), 12u);
  shared_broker().restart();
  const auto open = contents().ids();
  for (const auto& id : said) EXPECT_THAT(open, ::testing::Not(::testing::Contains(id)));
  EXPECT_EQ(replay(target_).replayed, open.size());
}

INSTANTIATE_TEST_SUITE_P(Stores, DrainOutageTest, ::testing::Values("kafka"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace forelock::test
