// What every dead-letter store does for a drain, whether it is an outbox or a topic.
#include "drain/letter_store.h"
#include "forelock/error.h"
#include "integration/dead_letters.h"
#include "integration/drain_stores.h"
#include "letter/letter_json.h"
#include "support/test.h"

namespace forelock::test {
namespace {

using drain::LetterFilter;
using drain::LetterState;
using drain::Resolution;
using drain::StoredLetter;

// A visitor that asks a function.
class Asking final : public drain::LetterVisitor {
 public:
  explicit Asking(std::function<bool(const StoredLetter&)> ask) : ask_(std::move(ask)) {}
  bool letter(const StoredLetter& letter) override { return ask_(letter); }
  bool unreadable(const drain::UnreadableLetter&) override { return true; }

 private:
  std::function<bool(const StoredLetter&)> ask_;
};

class DrainStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void reopen() { store_ = given_->open(); }
  StoreContents contents(const LetterFilter& filter = {}) { return contents_of(*store_, filter); }
  void resolve(const std::string& id, Resolution resolution) {
    const auto letter = store_->find(id);
    ASSERT_TRUE(letter) << id;
    store_->resolve(*letter, resolution);
  }

  std::unique_ptr<DrainStore> given_ = DrainStore::make(GetParam());
  std::unique_ptr<drain::LetterStore> store_ = given_->open();
};

TEST_P(DrainStoreTest, AnEmptyOneShowsNothing) {
  EXPECT_THAT(contents().letters, IsEmpty());
  EXPECT_THAT(parked_in(*store_).letters, IsEmpty());
  EXPECT_FALSE(store_->find("nothing"));
  store_->settle();
  EXPECT_EQ(store_->delete_resolved(), 0u);
  EXPECT_FALSE(store_->describe().empty());
}

TEST_P(DrainStoreTest, ShowsEachLetterOnceInTheOrderOfItsMonitor) {
  const auto letters = example_letters(60, 7);
  given_->add(letters);
  const StoreContents seen = contents();
  EXPECT_THAT(seen.letters, SizeIs(60));
  for (int monitor = 0; monitor < 7; ++monitor) {
    std::vector<std::string> expected;
    for (int i = monitor; i < 60; i += 7) expected.push_back("id-" + std::to_string(i));
    EXPECT_EQ(seen.ids_of("P" + std::to_string(monitor)), expected);
  }
  const StoredLetter& one = seen.letter("id-17");
  EXPECT_EQ(one.record, letter::to_json(letters[17]));
  EXPECT_EQ(one.letter.payload, letters[17].payload);
  EXPECT_EQ(one.state, LetterState::queued);
  EXPECT_EQ(one.tries, 0u);
  EXPECT_FALSE(one.position.empty());
  const auto found = store_->find("id-17");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->position, one.position);
  EXPECT_EQ(found->record, one.record);
}

TEST_P(DrainStoreTest, ShowsOnlyWhatMatches) {
  DeadLetter other = example_letter("other", "P2");
  other.type = "reindex";
  other.reason = "handler_failed";
  other.failed_at += std::chrono::hours(1);
  given_->add({example_letter("one", "P1"), other, example_letter("two", "P2")});
  LetterFilter filter;
  filter.monitors = {"P2"};
  EXPECT_THAT(contents(filter).ids(), ElementsAre("other", "two"));
  filter.types = {"reindex"};
  EXPECT_THAT(contents(filter).ids(), ElementsAre("other"));
  filter = {};
  filter.since = other.failed_at;
  EXPECT_THAT(contents(filter).ids(), ElementsAre("other"));
  filter = {};
  filter.ids = {"one", "two"};
  EXPECT_THAT(contents(filter).ids(), UnorderedElementsAre("one", "two"));
  filter.reasons = {"handler_failed"};
  EXPECT_THAT(contents(filter).ids(), IsEmpty());
}

TEST_P(DrainStoreTest, TheVisitorMayEndIt) {
  given_->add({example_letter("one"), example_letter("two"), example_letter("three")});
  std::vector<std::string> seen;
  Asking asking([&](const StoredLetter& letter) {
    seen.push_back(letter.letter.id);
    return seen.size() < 2;
  });
  store_->scan({}, asking);
  EXPECT_THAT(seen, ElementsAre("one", "two"));
}

TEST_P(DrainStoreTest, WhatComesMeanwhileIsNotVisited) {
  given_->add({example_letter("one"), example_letter("two")});
  int seen = 0;
  Asking asking([&](const StoredLetter&) {
    given_->add(example_letter("late-" + std::to_string(++seen)));
    return seen < 20;
  });
  store_->scan({}, asking);
  EXPECT_EQ(seen, 2);
  EXPECT_THAT(contents().letters, SizeIs(4));
}

TEST_P(DrainStoreTest, TriesAreCountedForGood) {
  given_->add({example_letter("one"), example_letter("two")});
  const StoredLetter one = contents().letter("one");
  EXPECT_EQ(store_->begin_try(one), 1u);
  EXPECT_EQ(store_->begin_try(one), 2u);
  reopen();
  EXPECT_EQ(contents().letter("one").tries, 2u);
  EXPECT_EQ(contents().letter("two").tries, 0u);
  EXPECT_EQ(store_->begin_try(one), 3u);
}

TEST_P(DrainStoreTest, ATryCanBeTakenBack) {
  given_->add(example_letter("one"));
  const StoredLetter one = contents().letter("one");
  store_->begin_try(one);
  EXPECT_EQ(store_->begin_try(one), 2u);
  store_->take_back_try(one);
  reopen();
  EXPECT_EQ(contents().letter("one").tries, 1u);
  store_->take_back_try(one);
  store_->take_back_try(one);
  EXPECT_EQ(contents().letter("one").tries, 0u) << "never less than none";
}

TEST_P(DrainStoreTest, WhatIsResolvedIsGoneForGood) {
  given_->add({example_letter("one"), example_letter("two"), example_letter("three")});
  const StoreContents before = contents();
  store_->resolve(before.letter("two"), Resolution::replayed);
  store_->resolve(before.letter("one"), Resolution::purged);
  EXPECT_THAT(contents().ids(), ElementsAre("three"));
  reopen();
  EXPECT_THAT(contents().ids(), ElementsAre("three"));
  EXPECT_THAT(parked_in(*store_).letters, IsEmpty());
  EXPECT_FALSE(store_->find("one"));
  store_->resolve(before.letter("one"), Resolution::purged);
  store_->resolve(before.letter("two"), Resolution::parked);
  EXPECT_THAT(contents().ids(), ElementsAre("three"));
  EXPECT_THAT(parked_in(*store_).letters, IsEmpty()) << "what is done with does not come back";
  EXPECT_EQ(store_->begin_try(before.letter("two")), 0u);
}

TEST_P(DrainStoreTest, ParkedLettersStandInThePlaceForThem) {
  given_->add({example_letter("one"), example_letter("two")});
  const StoredLetter one = contents().letter("one");
  for (int i = 0; i < 3; ++i) store_->begin_try(one);
  store_->resolve(one, Resolution::parked);
  store_->resolve(one, Resolution::parked);
  reopen();
  EXPECT_THAT(contents().ids(), ElementsAre("two"));
  const StoreContents parked = parked_in(*store_);
  ASSERT_THAT(parked.ids(), ElementsAre("one"));
  EXPECT_EQ(parked.letters[0].state, LetterState::parked);
  EXPECT_EQ(parked.letters[0].record, one.record);
  const auto found = store_->find("one");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, LetterState::parked);

  EXPECT_GT(store_->begin_try(parked.letters[0]), 0u);
  reopen();
  EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("one")) << "a try does not take it out";
  store_->resolve(parked.letters[0], Resolution::parked);
  EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("one"));
  store_->resolve(parked.letters[0], Resolution::replayed);
  reopen();
  EXPECT_THAT(parked_in(*store_).letters, IsEmpty());
  EXPECT_FALSE(store_->find("one"));
  EXPECT_EQ(store_->begin_try(parked.letters[0]), 0u);
}

TEST_P(DrainStoreTest, WhatIsNoLetterIsShownAndHidesNobody) {
  given_->add(example_letter("one"));
  const std::string newer = R"({"schema":99,"id":"from-the-future"})";
  given_->add_record("P1", "garbage {");
  given_->add_record("P1", newer);
  given_->add_record("P1", "");
  given_->add(example_letter("two"));
  const StoreContents seen = contents();
  EXPECT_THAT(seen.ids(), ElementsAre("one", "two"));
  ASSERT_THAT(seen.unreadable, SizeIs(3));
  EXPECT_EQ(seen.unreadable[0].code, "record_invalid");
  EXPECT_EQ(seen.unreadable[0].record, "garbage {");
  EXPECT_EQ(seen.unreadable[0].monitor, "P1");
  EXPECT_EQ(seen.unreadable[1].code, "record_too_new");
  EXPECT_EQ(seen.unreadable[1].record, newer);
  LetterFilter filter;
  filter.ids = {seen.unreadable[1].position};
  EXPECT_THAT(contents(filter).unreadable, SizeIs(1));

  store_->resolve(seen.unreadable[0], Resolution::purged);
  store_->resolve(seen.unreadable[1], Resolution::parked);
  store_->resolve(seen.unreadable[1], Resolution::parked);
  reopen();
  EXPECT_THAT(contents().unreadable, SizeIs(1));
  EXPECT_THAT(contents().ids(), ElementsAre("one", "two"));
  const StoreContents parked = parked_in(*store_);
  ASSERT_THAT(parked.unreadable, SizeIs(1));
  EXPECT_EQ(parked.unreadable[0].record, newer);
  EXPECT_EQ(parked.unreadable[0].monitor, "P1");
  store_->resolve(parked.unreadable[0], Resolution::purged);
  reopen();
  EXPECT_THAT(parked_in(*store_).unreadable, IsEmpty());
}

TEST_P(DrainStoreTest, ADuplicateIsNoSecondLetter) {
  given_->add({example_letter("one"), example_letter("two")});
  given_->add_duplicate(example_letter("one"));
  EXPECT_THAT(contents().ids(), ElementsAre("one", "two"));
  resolve("one", Resolution::replayed);
  reopen();
  EXPECT_THAT(contents().ids(), ElementsAre("two"));
}

TEST_P(DrainStoreTest, HolesStayClosed) {
  given_->add(example_letters(40, 4));
  const StoreContents before = contents();
  for (int i = 0; i < 40; ++i) {
    if (i % 3 != 0) store_->resolve(before.letter("id-" + std::to_string(i)), Resolution::replayed);
  }
  for (int round = 0; round < 2; ++round) {
    const StoreContents after = contents();
    EXPECT_THAT(after.letters, SizeIs(14));
    EXPECT_THAT(after.ids_of("P0"), ElementsAre("id-0", "id-12", "id-24", "id-36"));
    store_->settle();
    reopen();
  }
}

// One that has looked before somebody else changed something must not act on what it saw.
TEST_P(DrainStoreTest, WhatOthersParkedMeanwhileIsKept) {
  given_->add({example_letter("one"), example_letter("two"), example_letter("three")});
  given_->add_record("P1", "garbage");
  const StoreContents before = contents();
  {
    const auto other = given_->open();
    const StoreContents seen = contents_of(*other);
    other->resolve(seen.letter("one"), Resolution::parked);
    other->resolve(seen.letter("two"), Resolution::parked);
    other->resolve(seen.unreadable.at(0), Resolution::parked);
  }
  store_->resolve(before.letter("three"), Resolution::purged);
  store_->settle();
  store_->delete_resolved();
  reopen();
  EXPECT_THAT(contents().letters, IsEmpty());
  EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("one", "two"));
  EXPECT_THAT(parked_in(*store_).unreadable, SizeIs(1));
}

TEST_P(DrainStoreTest, DeletingWhatIsResolvedKeepsTheRest) {
  given_->add(example_letters(30, 5));
  const StoreContents before = contents();
  const auto letter = [&](int i) -> const StoredLetter& { return before.letter("id-" + std::to_string(i)); };
  for (int i = 0; i < 20; ++i) store_->resolve(letter(i), i % 2 ? Resolution::purged : Resolution::replayed);
  store_->resolve(letter(25), Resolution::replayed);
  store_->resolve(letter(26), Resolution::parked);
  store_->resolve(letter(27), Resolution::parked);
  store_->resolve(parked_in(*store_).letter("id-26"), Resolution::purged);
  const auto rest = UnorderedElementsAre("id-20", "id-21", "id-22", "id-23", "id-24", "id-28", "id-29");
  for (int round = 0; round < 3; ++round) {
    store_->delete_resolved();
    EXPECT_THAT(contents().ids(), rest);
    EXPECT_THAT(parked_in(*store_).ids(), ElementsAre("id-27"));
    reopen();
  }
  EXPECT_EQ(store_->delete_resolved(), 0u) << "that had been done";
}

INSTANTIATE_TEST_SUITE_P(Stores, DrainStoreTest, ::testing::Values("outbox", "kafka"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace forelock::test
