// Replays of every store: order, counting, parking, filters and limits.
#include "drain/drainer_lock.h"
#include "forelock/error.h"
#include "integration/dead_letters.h"
#include "integration/drain_replays.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using drain::ReplayOptions;
using drain::ReplayReport;
using drain::TryOutcome;
using drain::TryResult;
using Event = drain::ReplayObserver::Event;

TEST_P(DrainReplayTest, EachLetterOnceInOrderUnderItsLock) {
  given_->add(example_letters(60, 6));
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> by_monitor;
  std::atomic<int> wrong = 0;
  const auto report = replay([&](const drain::StoredLetter& letter, WriteLock& lock, std::stop_token stop) {
    const bool right = lock.healthy() && lock.monitor() == letter.letter.monitor &&
                       lock.priority() == Priority::background && !stop.stop_requested() &&
                       lock.lock_info() == "replay saveContent " + letter.letter.id && letter.tries == 0;
    if (!right) ++wrong;
    const std::lock_guard hold(mutex);
    by_monitor[letter.letter.monitor].push_back(letter.letter.id);
    return TryResult{TryOutcome::done, ""};
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(report.replayed, 60u);
  EXPECT_FALSE(report.stopped);
  EXPECT_EQ(report.unsettled, "");
  EXPECT_THAT(record_.ids(Event::replayed), SizeIs(60));
  for (int monitor = 0; monitor < 6; ++monitor) {
    std::vector<std::string> expected;
    for (int i = monitor; i < 60; i += 6) expected.push_back("id-" + std::to_string(i));
    EXPECT_EQ(by_monitor["P" + std::to_string(monitor)], expected);
  }
  EXPECT_THAT(contents().letters, IsEmpty());
  const auto again = replay(target_);
  EXPECT_EQ(again.replayed, 0u);
  EXPECT_THAT(target_.ids(), IsEmpty()) << "what is resolved is not replayed again";
}

TEST_P(DrainReplayTest, AFailedLetterKeepsItsMonitorWaitingAndNobodyElse) {
  given_->add({letter_of_type("good", "a1", "A"), letter_of_type("poison", "a2", "A"),
               letter_of_type("good", "a3", "A"), letter_of_type("good", "a4", "A"),
               letter_of_type("good", "b1", "B")});
  const auto report = replay(target_);
  EXPECT_EQ(report.replayed, 2u);
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(report.skipped, 2u);
  EXPECT_THAT(target_.ids(), UnorderedElementsAre("a1", "a2", "b1"));
  EXPECT_THAT(record_.ids(Event::failed), ElementsAre("a2"));
  EXPECT_THAT(record_.ids(Event::skipped), ElementsAre("a3", "a4"));
  EXPECT_EQ(record_.message("a2"), "it does not go down");
  EXPECT_THAT(contents().ids(), ElementsAre("a2", "a3", "a4"));
  EXPECT_EQ(contents().letter("a2").tries, 1u);
}

TEST_P(DrainReplayTest, PoisonIsParkedAndTheOthersGoOn) {
  given_->add({letter_of_type("poison", "a1", "A"), letter_of_type("good", "a2", "A")});
  EXPECT_EQ(replay(target_).failed, 1u);
  EXPECT_EQ(replay(target_).failed, 1u);
  const auto report = replay(target_);
  EXPECT_EQ(report.parked, 1u);
  EXPECT_EQ(report.replayed, 1u);
  EXPECT_EQ(report.failed, 0u);
  EXPECT_THAT(target_.ids(), ElementsAre("a1", "a1", "a1", "a2"));
  EXPECT_THAT(record_.ids(Event::parked), ElementsAre("a1"));
  EXPECT_THAT(contents().letters, IsEmpty());
  EXPECT_THAT(parked().ids(), ElementsAre("a1"));
}

TEST_P(DrainReplayTest, WhatIsTakenOutOfParkingIsTriedAgain) {
  given_->add(letter_of_type("poison", "a1", "A"));
  ReplayOptions options;
  options.max_tries = 1;
  EXPECT_EQ(replay(target_, options).parked, 1u);
  {
    Client client(settings());
    const auto store = given_->open();
    const drain::DrainerLock lock(client, *store, "unpark");
    EXPECT_TRUE(store->restore(parked_in(*store).letter("a1")));
    store->settle();
  }
  EXPECT_EQ(contents().letter("a1").tries, 0u);
  std::atomic<int> called = 0;
  const auto report = replay(
      [&](const drain::StoredLetter&, WriteLock&, std::stop_token) {
        ++called;
        return TryResult{TryOutcome::done, ""};
      },
      options);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(report.replayed, 1u);
  EXPECT_THAT(parked().letters, IsEmpty());
}

TEST_P(DrainReplayTest, ALetterWhoseTriesNeverEndedIsParkedUntried) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A")});
  {
    // As a replayer does that is killed by it.
    const auto store = given_->open();
    const auto letter = contents_of(*store).letter("a1");
    for (int i = 0; i < 3; ++i) store->begin_try(letter);
  }
  const auto report = replay(target_);
  EXPECT_EQ(report.parked, 1u);
  EXPECT_EQ(report.replayed, 1u);
  EXPECT_THAT(target_.ids(), ElementsAre("a2"));
  EXPECT_THAT(parked().ids(), ElementsAre("a1"));
}

TEST_P(DrainReplayTest, WhatIsPutOffIsNotCounted) {
  given_->add({letter_of_type("later", "a1", "A"), letter_of_type("good", "a2", "A")});
  for (int i = 0; i < 5; ++i) {
    const auto report = replay(target_);
    EXPECT_EQ(report.later, 1u);
    EXPECT_EQ(report.skipped, 1u);
    EXPECT_EQ(report.parked, 0u);
  }
  EXPECT_EQ(contents().letter("a1").tries, 0u);
  EXPECT_EQ(record_.message("a1"), "not yet");
}

TEST_P(DrainReplayTest, WhatATargetThrowsIsAFailure) {
  given_->add(example_letter("a1"));
  const auto report = replay(
      [](const drain::StoredLetter&, WriteLock&, std::stop_token) -> TryResult { throw std::runtime_error("oh no"); });
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(record_.message("a1"), "oh no");
  EXPECT_EQ(contents().letter("a1").tries, 1u);
}

TEST_P(DrainReplayTest, ParkedLettersCanBeReplayed) {
  given_->add({letter_of_type("good", "a1", "A"), letter_of_type("poison", "a2", "A"),
               letter_of_type("good", "a3", "A"), letter_of_type("good", "b1", "B")});
  {
    const auto store = given_->open();
    const auto all = contents_of(*store);
    for (const char* id : {"a1", "a2", "a3"}) store->resolve(all.letter(id), drain::Resolution::parked);
  }
  ReplayOptions options;
  options.filter.parked = true;
  for (int i = 0; i < 4; ++i) {
    const auto report = replay(target_, options);
    EXPECT_EQ(report.replayed, i == 0 ? 2u : 0u) << "one that fails stays, and keeps nobody waiting";
    EXPECT_EQ(report.failed, 1u);
    EXPECT_EQ(report.parked, 0u);
  }
  EXPECT_THAT(parked().ids(), ElementsAre("a2"));
  EXPECT_THAT(contents().ids(), ElementsAre("b1"));
}

TEST_P(DrainReplayTest, OnlyWhatMatchesIsReplayed) {
  given_->add({letter_of_type("good", "a1", "A"), letter_of_type("other", "a2", "A"), letter_of_type("good", "a3", "A"),
               letter_of_type("other", "b1", "B")});
  ReplayOptions options;
  options.filter.types = {"other"};
  EXPECT_EQ(replay(target_, options).replayed, 2u);
  EXPECT_THAT(target_.ids(), UnorderedElementsAre("a2", "b1"));
  EXPECT_THAT(contents().ids(), ElementsAre("a1", "a3"));
  EXPECT_EQ(replay(target_).replayed, 2u) << "holes stay closed, the rest is replayed";
  EXPECT_THAT(contents().letters, IsEmpty());
}

TEST_P(DrainReplayTest, WhatIsNoLetterIsCountedAndPassedOver) {
  given_->add(example_letter("a1"));
  given_->add_record("P1", "garbage");
  given_->add_record("P1", R"({"schema":7})");
  given_->add(example_letter("a2"));
  const auto report = replay(target_);
  EXPECT_EQ(report.replayed, 2u);
  EXPECT_EQ(report.unreadable, 2u);
  EXPECT_THAT(contents().unreadable, SizeIs(2)) << "nothing is lost";
}

TEST_P(DrainReplayTest, NoMoreThanMaxAreTried) {
  std::vector<DeadLetter> letters;
  for (int i = 0; i < 20; ++i) {
    letters.push_back(
        letter_of_type(i % 5 == 1 ? "poison" : "good", "id-" + std::to_string(i), "P" + std::to_string(i)));
  }
  given_->add(letters);
  ReplayOptions options;
  options.max = 7;
  const auto report = replay(target_, options);
  EXPECT_THAT(target_.ids(), SizeIs(7)) << "failed ones count too";
  EXPECT_EQ(report.replayed + report.failed, 7u);
  EXPECT_FALSE(report.stopped);
  EXPECT_THAT(contents().letters, SizeIs(20 - report.replayed));
  options.max = 0;
  replay(target_, options);
  EXPECT_THAT(target_.ids(), SizeIs(7));
}

TEST_P(DrainReplayTest, TheRateIsKept) {
  given_->add(example_letters(11, 11));
  std::mutex mutex;
  std::vector<steady_clock::time_point> begun;
  ReplayOptions options;
  options.rate = 20;
  replay(
      [&](const drain::StoredLetter&, WriteLock&, std::stop_token) {
        const std::lock_guard hold(mutex);
        begun.push_back(steady_clock::now());
        return TryResult{TryOutcome::done, ""};
      },
      options);
  ASSERT_THAT(begun, SizeIs(11));
  EXPECT_GE(begun.back() - begun.front(), 300ms) << "ten intervals of 50 ms, less what the first lock takes";
}

TEST_P(DrainReplayTest, MonitorsInParallelAndLettersOfOneNever) {
  constexpr std::size_t concurrency = 3;
  given_->add(example_letters(24, 4));
  std::mutex mutex;
  std::multiset<std::string> inside;
  std::size_t most = 0;
  bool overlap = false;
  ReplayOptions options;
  options.concurrency = concurrency;
  const auto report = replay(
      [&](const drain::StoredLetter& letter, WriteLock&, std::stop_token) {
        {
          const std::lock_guard hold(mutex);
          inside.insert(letter.letter.monitor);
          most = std::max(most, inside.size());
          overlap = overlap || inside.count(letter.letter.monitor) > 1;
        }
        // Until as many as possible are inside, once; with fewer it goes on after a while.
        wait_until([&] { return std::lock_guard(mutex), most == concurrency; }, 5s);
        const std::lock_guard hold(mutex);
        inside.erase(inside.find(letter.letter.monitor));
        return TryResult{TryOutcome::done, ""};
      },
      options);
  EXPECT_EQ(report.replayed, 24u);
  EXPECT_EQ(most, concurrency);
  EXPECT_FALSE(overlap);
}

// A store that cannot record what becomes of one letter.
class FailingStore final : public drain::LetterStore {
 public:
  FailingStore(drain::LetterStore& store, std::string id) : store_(store), id_(std::move(id)) {}
  std::string describe() const override { return store_.describe(); }
  std::string drainer_monitor() const override { return store_.drainer_monitor(); }
  void scan(const drain::LetterFilter& filter, drain::LetterVisitor& visitor) override { store_.scan(filter, visitor); }
  std::optional<drain::StoredLetter> find(const std::string& id) override { return store_.find(id); }
  std::uint32_t begin_try(const drain::StoredLetter& letter) override { return store_.begin_try(letter); }
  void take_back_try(const drain::StoredLetter& letter) override { store_.take_back_try(letter); }
  void resolve(const drain::StoredLetter& letter, drain::Resolution resolution) override {
    if (letter.letter.id == id_) throw Error(ErrorCode::outbox_unavailable, "", "the disk is full");
    store_.resolve(letter, resolution);
  }
  void resolve(const drain::UnreadableLetter& letter, drain::Resolution resolution) override {
    store_.resolve(letter, resolution);
  }
  bool restore(const drain::StoredLetter& letter) override { return store_.restore(letter); }
  void settle() override { store_.settle(); }
  std::uint64_t delete_resolved() override { return store_.delete_resolved(); }

 private:
  drain::LetterStore& store_;
  const std::string id_;
};

TEST_P(DrainReplayTest, AStoreThatFailsEndsTheReplay) {
  given_->add(example_letters(30, 3));
  {
    Client client(settings());
    const auto store = given_->open();
    FailingStore failing(*store, "id-7");
    try {
      drain::Replayer(client, failing, target_, record_).run({}, {});
      ADD_FAILURE() << "nothing said";
    } catch (const Error& problem) {
      EXPECT_EQ(problem.code(), ErrorCode::outbox_unavailable);
      EXPECT_STREQ(problem.what(), "the disk is full");
    }
  }
  const auto said = record_.ids(Event::replayed);
  EXPECT_THAT(said, ::testing::Not(::testing::Contains("id-7")));
  EXPECT_THAT(contents().letters, SizeIs(30 - said.size())) << "what was said to be replayed is, and nothing else";
  replay(target_);
  EXPECT_THAT(contents().letters, IsEmpty());
  const auto ids = target_.ids();
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "id-7"), 2) << "at least once";
}

TEST_P(DrainReplayTest, OptionsThatCannotBeRight) {
  for (const auto change : std::vector<void (*)(ReplayOptions&)>{
           [](ReplayOptions& options) { options.rate = -1; },
           [](ReplayOptions& options) { options.rate = 1e-9; },
           [](ReplayOptions& options) { options.rate = std::numeric_limits<double>::quiet_NaN(); },
           [](ReplayOptions& options) { options.concurrency = 0; },
           [](ReplayOptions& options) { options.concurrency = ReplayOptions::max_concurrency + 1; },
           [](ReplayOptions& options) { options.max_tries = 0; },
           [](ReplayOptions& options) { options.lock_timeout = 0ms; },
       }) {
    ReplayOptions options;
    change(options);
    try {
      replay(target_, options);
      ADD_FAILURE() << "accepted";
    } catch (const RequestRejectedException& problem) {
      EXPECT_EQ(problem.code(), ErrorCode::invalid_argument);
      EXPECT_THAT(problem.hint(), ::testing::Not(IsEmpty()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, DrainReplayTest, ::testing::Values("outbox", "kafka"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace forelock::test
