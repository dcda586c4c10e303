// What a process knows of a queue when one of its contenders has released and another one of its own waits on.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

// Two of this process in one queue with others: when the first of them has released, what was seen before the second
// tells whom that waits for.
class OlderListingTest : public EngineTest, public ::testing::WithParamInterface<WatchMode> {
 protected:
  OlderListingTest() : EngineTest(options()) {}

  static EngineOptions options() {
    EngineOptions options;
    options.watch_mode = GetParam();
    return options;
  }

  void first_has_released(Priority priority) {
    const std::string prefix = priority == Priority::foreground ? "A-" : "B-";
    const auto node = [&prefix](int number) { return prefix + "000000000" + std::to_string(number); };
    join(1, priority, node(2), listing({node(0), "privateLock", node(2)}, 3));
    answer<Get>({});
    ask(2, priority);
    answers<Create, List>(created(node(5)), listing({node(0), "privateLock", node(2), node(3), node(4), node(5)}, 6));
    event(WatchEvent::Kind::deleted, "/P/" + node(0));
    event(WatchEvent::Kind::children_changed, "/P");
    const std::vector<std::string> all = {"privateLock", node(2), node(3), node(4), node(5)};
    if (priority == Priority::background) answer<List>(listing({node(2), node(3), node(4), node(5)}, 6));
    answer<Transaction>(claimed("", 100));
    if (priority == Priority::background) answer<List>(listing(all, 7));
    ASSERT_EQ(output_.grants.size(), 1u);
    release(1);
  }
};

INSTANTIATE_TEST_SUITE_P(Watch, OlderListingTest, ::testing::Values(WatchMode::parent, WatchMode::predecessor),
                         [](const auto& mode) { return mode.param == WatchMode::parent ? "parent" : "predecessor"; });

TEST_P(OlderListingTest, SaysWhomTheNextOneOfTheProcessWaitsFor) {
  first_has_released(Priority::foreground);
  const auto watch = answer<Get>({});
  EXPECT_EQ(watch.path, "/P/A-0000000004");
  EXPECT_TRUE(watch.watch);
  EXPECT_TRUE(output_.sent.empty());
  event(WatchEvent::Kind::deleted, "/P/A-0000000004");
  answer<Transaction>(claimed("", 200));
  EXPECT_EQ(output_.grants.size(), 1u);  // of the two others before it nothing is known
  answer<List>(listing({"privateLock", "A-0000000005"}, 8));
  EXPECT_EQ(output_.grants.size(), 2u);
}

// It may have gone at any time since, without its turn.
TEST_P(OlderListingTest, IsRepeatedWhereTheNodeBeforeIsGoneAlready) {
  first_has_released(Priority::foreground);
  answer<Get>(failure(ReplyCode::no_node));
  if (output_.sent.empty()) wait();  // in mode parent: as long as those before it take
  answer<List>(listing({"A-0000000003", "privateLock", "A-0000000005"}, 8));
  EXPECT_EQ(answer<Get>({}).path, "/P/A-0000000003");
  EXPECT_TRUE(output_.sent.empty());
}

TEST_P(OlderListingTest, OfBackgroundContendersIsNotEnoughToClaim) {
  first_has_released(Priority::background);
  EXPECT_EQ(answer<Get>({}).path, "/P/B-0000000004");
  event(WatchEvent::Kind::deleted, "/P/B-0000000004");
  answer<List>(listing({"A-0000000006", "privateLock", "B-0000000005"}, 8));
  EXPECT_EQ(answer<Get>({}).path, "/P/A-0000000006");
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST_P(OlderListingTest, IsNotEnoughForACallerWhoWantsToKnowItsPlace) {
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  answer<Get>({});
  acquire(2, Priority::foreground);  // with its place
  answer<Create>(created("A-0000000005"));
  answer<List>(listing({"A-0000000000", "privateLock", "A-0000000002", "A-0000000004", "A-0000000005"}, 6));
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  while (output_.grants.empty() && !output_.sent.empty()) {
    if (std::holds_alternative<Transaction>(output_.sent.front().request)) {
      answer<Transaction>(claimed("", 100));
    } else if (std::holds_alternative<List>(output_.sent.front().request)) {
      answer<List>(listing({"privateLock", "A-0000000002", "A-0000000004", "A-0000000005"}, 7));
    } else {
      answer<Get>({});
    }
  }
  ASSERT_EQ(output_.grants.size(), 1u);
  output_.sent.clear();
  ASSERT_TRUE(engine_.release(1, now_));
  ASSERT_EQ(output_.sent.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<List>(output_.sent.back().request));
}

// One that has joined since it was taken: others may have come between.
TEST_P(OlderListingTest, DoesNotServeOneThatItDoesNotShow) {
  join(1, Priority::foreground, "A-0000000002",
       listing({"A-0000000000", "privateLock", "A-0000000002", "A-0000000003"}, 4));
  answer<Get>({});
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  answer<Transaction>(claimed("", 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  ask(2);
  answer<Create>(created("A-0000000005"));
  release(1);
  answer<List>(listing({"A-0000000003", "A-0000000004", "A-0000000005"}, 6));
}

}  // namespace
}  // namespace forelock::lock
