// What waits, what goes together, and in which order.
#include "grouping_fixture.h"

namespace forelock::grouping {
namespace {

TEST_F(GroupingSessionTest, OneAtATimeGoesAtOnceAndByItself) {
  for (RequestTag tag = 1; tag <= 3; ++tag) {
    step(tag, claim("P"));
    ASSERT_EQ(server_.sent.size(), tag);
    answer(tag - 1);
    EXPECT_TRUE(replies_.at(tag).ok());
  }
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2, 2}));
}

TEST_F(GroupingSessionTest, WhatAStepSubmitsGoesTogether) {
  submit(1, claim("P"));
  submit(2, claim("Q"));
  EXPECT_TRUE(server_.sent.empty());
  grouping_.flush();
  EXPECT_EQ(server_.sizes(), std::vector<std::size_t>{4});
}

TEST_F(GroupingSessionTest, BehindTwoUnderWayTheOthersGatherUntilAnAnswerComes) {
  keep_busy();
  step(1, claim("P"));
  step(2, claim("Q"));
  EXPECT_EQ(server_.sent.size(), 2u);
  answer(0);
  ASSERT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2, 4}));
  answer(2);
  EXPECT_EQ(paths_of(1), (std::vector<std::string>{"/P/A-0", "/P/privateLock1"}));
  EXPECT_EQ(paths_of(2), (std::vector<std::string>{"/Q/A-2", "/Q/privateLock3"}));
}

// What follows from the answers of a group comes one after the other, and would go one by one.
TEST_F(GroupingSessionTest, BehindAGroupAnotherOneGoesWhenItIsAsLarge) {
  for (RequestTag tag = 1; tag <= 3; ++tag) submit(tag, claim("P" + std::to_string(tag)));
  grouping_.flush();
  step(4, claim("P4"));
  step(5, claim("P5"));
  EXPECT_EQ(server_.sizes(), std::vector<std::size_t>{6});
  step(6, claim("P6"));
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{6, 6}));
  step(7, claim("P7"));
  answer(0);
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{6, 6})) << "one is less than three";
  answer(1);
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{6, 6, 2})) << "nothing else is under way";
}

TEST_F(GroupingSessionTest, FewAreNotHeldBack) {
  GroupingSession grouping({.at_once = 3, .under_way = 1}, *this);
  Server server;
  grouping.use(&server);
  for (RequestTag tag = 1; tag <= 5; ++tag) {
    grouping.submit(tag, claim("P" + std::to_string(tag)));
    grouping.flush();
  }
  EXPECT_EQ(server.sizes(), (std::vector<std::size_t>{2, 2, 2}));
}

// Thousands of background claims must not be in the way of a foreground lock, or of one that others wait for.
TEST_F(GroupingSessionTest, UrgentOnesGoBeforeOthersThatAreHeldBack) {
  keep_busy();
  for (RequestTag tag = 1001; tag <= 3000; ++tag) submit(tag, claim("b" + std::to_string(tag)));
  for (RequestTag tag = 3001; tag <= 3003; ++tag) {
    Transaction urgent = claim("f" + std::to_string(tag));
    urgent.urgent = true;
    submit(tag, urgent);
  }
  EXPECT_TRUE(grouping_.withdraw(3002));
  grouping_.flush();
  ASSERT_EQ(server_.sent.size(), 2u);
  answer(0);
  answer(1);
  ASSERT_GE(server_.sent.size(), 3u);
  answer(2);
  ASSERT_GE(order_.size(), 5u);
  const std::vector<RequestTag> first(order_.begin() + 2, order_.begin() + 5);
  EXPECT_EQ(first, (std::vector<RequestTag>{3001, 3003, 1001}));
  for (std::size_t next = 3; next < server_.sent.size(); ++next) answer(next);
  ASSERT_EQ(order_.size(), 2004u);
  EXPECT_EQ(order_.back(), 3000u) << "the others keep their order";
}

TEST_F(GroupingSessionTest, OfEightThatGoOneIsNotUrgent) {
  keep_busy();
  const auto submit_urgent = [this](RequestTag tag) {
    Transaction urgent = claim("f" + std::to_string(tag));
    urgent.urgent = true;
    submit(tag, urgent);
  };
  for (RequestTag tag = 1; tag <= 3; ++tag) submit(tag, claim("b" + std::to_string(tag)));
  for (RequestTag tag = 101; tag <= 120; ++tag) submit_urgent(tag);
  grouping_.flush();
  for (std::size_t next = 0; next < server_.sent.size(); ++next) {
    answer(next);
    // As many come as have gone: the urgent ones do not end.
    for (RequestTag tag = 1000 * (next + 1); next < 8 && tag < 1000 * (next + 1) + 10; ++tag) submit_urgent(tag);
    grouping_.flush();
  }
  std::vector<std::size_t> places;
  for (RequestTag tag = 1; tag <= 3; ++tag) {
    places.push_back(static_cast<std::size_t>(std::find(order_.begin(), order_.end(), tag) - order_.begin()) - 2);
  }
  EXPECT_EQ(places, (std::vector<std::size_t>{7, 15, 23}));
}

TEST_F(GroupingSessionTest, AGroupKeepsToItsLimitOfOperations) {
  for (RequestTag tag = 1; tag <= 4; ++tag) submit(tag, claim("P" + std::to_string(tag)));
  grouping_.flush();
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{6, 2}));
}

TEST_F(GroupingSessionTest, AGroupKeepsToItsLimitOfBytes) {
  for (RequestTag tag = 1; tag <= 3; ++tag) {
    Transaction large = claim("P" + std::to_string(tag));
    std::get<Create>(large.operations[0]).data = std::string(1800, 'x');
    submit(tag, std::move(large));
  }
  grouping_.flush();
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{4, 2}));
}

TEST_F(GroupingSessionTest, TheChrootCountsForEachPath) {
  const std::size_t of_claim = 2 * 64 + std::string("/P1/A-/P1/privateLock").size() + std::string("record").size();
  for (const std::size_t root : {std::size_t{0}, std::size_t{100}}) {
    Server server;
    GroupingSession grouping({.at_once = 0, .bytes = 2 * of_claim, .root_bytes = root}, *this);
    grouping.use(&server);
    for (const char* monitor : {"P1", "P2"}) {
      grouping.submit(monitor == std::string("P1") ? 1 : 2, claim(monitor));
    }
    grouping.flush();
    EXPECT_EQ(server.sizes(), root == 0 ? std::vector<std::size_t>{4} : (std::vector<std::size_t>{2, 2}));
  }
}

TEST_F(GroupingSessionTest, LargeGroupsOneAfterTheOtherBecomeSmaller) {
  const std::size_t of_claim = 2 * 64 + std::string("/P1/A-/P1/privateLock").size() + 1000;
  Server server;
  GroupingSession grouping({.bytes = 100 * of_claim, .sustained_bytes = 2 * of_claim, .burst_bytes = 3 * of_claim},
                           *this);
  grouping.use(&server);
  RequestTag tag = 0;
  const auto send_four = [&] {
    for (int i = 0; i < 4; ++i) {
      Transaction large = claim("P" + std::to_string(i));
      std::get<Create>(large.operations[0]).data = std::string(1000, 'x');
      grouping.submit(++tag, std::move(large));
    }
    grouping.flush();
    for (std::size_t n = server.sent.size(); n > 0; --n) {
      Reply reply;
      reply.operations.resize(8);
      grouping.on_reply(server.sent[n - 1].tag, std::move(reply));
      grouping.flush();
    }
    return std::exchange(server.sent, {}).size();
  };
  EXPECT_EQ(send_four(), 1u);
  EXPECT_EQ(send_four(), 2u) << "three of four";
}

TEST_F(GroupingSessionTest, WhatIsLargerThanAGroupGoesByItself) {
  keep_busy();
  Transaction large = claim("P");
  std::get<Create>(large.operations[0]).data = std::string(5000, 'x');
  step(1, std::move(large));
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2, 2}));
}

TEST_F(GroupingSessionTest, OtherRequestsAreNotHeldBack) {
  keep_busy();
  step(1, claim("P"));
  step(2, Get{"/Q", true});
  step(3, Transaction{{Check{"/"}}});
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2, 0, 1}));
}

TEST_F(GroupingSessionTest, WhatFollowsForAMonitorWaitsForItsGroup) {
  keep_busy();
  step(1, claim("P"));
  step(2, claim("Q"));
  step(3, List{"/P", false});
  step(4, Get{"/P/privateLock", false});
  EXPECT_EQ(server_.sent.size(), 2u);
  answer(0);
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2, 4}));
  answer(2);
  ASSERT_EQ(server_.sent.size(), 5u);
  EXPECT_EQ(server_.sent[3].tag, 3u);
  EXPECT_EQ(server_.sent[4].tag, 4u);
}

TEST_F(GroupingSessionTest, WhatFollowsFromAnAnswerGoesBehindWhatWaitedForIt) {
  submit(1, claim("P"));
  submit(2, claim("Q"));
  grouping_.flush();
  step(3, List{"/P", false});
  then_[1] = {4, Get{"/P", false}};
  answer(0);
  ASSERT_EQ(server_.sent.size(), 3u);
  EXPECT_EQ(server_.sent[1].tag, 3u);
  EXPECT_EQ(server_.sent[2].tag, 4u);
}

TEST_F(GroupingSessionTest, WhatIsWithdrawnIsNeitherSentNorAnswered) {
  keep_busy();
  step(1, claim("P"));
  step(2, claim("Q"));
  step(3, List{"/P", false});
  step(4, Get{"/P", false});
  EXPECT_FALSE(grouping_.withdraw(901)) << "it is under way";
  EXPECT_TRUE(grouping_.withdraw(3)) << "it waits for the claim";
  EXPECT_TRUE(grouping_.withdraw(1));
  ASSERT_EQ(server_.sent.size(), 3u);
  EXPECT_EQ(server_.sent[2].tag, 4u) << "what waited for it goes";
  EXPECT_FALSE(grouping_.withdraw(4)) << "it has been sent";
  answer(0);
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2, 0, 2}));
  answer(1);
  EXPECT_EQ(replies_.count(1), 0u);
  EXPECT_EQ(replies_.count(3), 0u);
}

// It names no node that was there before.
TEST_F(GroupingSessionTest, AClaimThatMakesItsMonitorOutlivesTheFormerOne) {
  Transaction fresh = claim("P");
  fresh.operations.insert(fresh.operations.begin(), Create{"/P", "", CreateMode::persistent});
  keep_busy();
  step(1, fresh);
  grouping_.on_watch({WatchEvent::Kind::deleted, "/P"});
  EXPECT_EQ(replies_.count(1), 0u);
  answer(0);
  ASSERT_EQ(server_.sent.size(), 3u);
  EXPECT_EQ(server_.sizes().back(), 3u);
}

// As the last requests of a session: nothing would be sent behind an answer.
TEST_F(GroupingSessionTest, ARemovalOfMonitorsFollowsTheirReleasesAtOnce) {
  keep_busy();
  for (RequestTag tag = 1; tag <= 10; ++tag) submit(tag, claim("P" + std::to_string(tag)));
  grouping_.flush();
  ASSERT_EQ(server_.sent.size(), 2u) << "they are held back";
  submit(20, Transaction{{Delete{"/P9", 0}, Delete{"/P10", 0}}});
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2, 6, 6, 6, 2, 2}));
}

TEST_F(GroupingSessionTest, ARemovalOfMonitorsInAGroupUnderWayDoesNotWait) {
  submit(1, claim("P1"));
  submit(2, claim("P2"));
  grouping_.flush();
  submit(3, Transaction{{Delete{"/P1", 0}, Delete{"/P2", 0}}});
  EXPECT_EQ(server_.sizes(), (std::vector<std::size_t>{4, 2}));
}

TEST_F(GroupingSessionTest, WatchesComeThroughAtOnce) {
  keep_busy();
  step(1, claim("P"));
  grouping_.on_watch({WatchEvent::Kind::deleted, "/P"});
  EXPECT_EQ(watches_, std::vector<std::string>{"/P"});
}

}  // namespace
}  // namespace forelock::grouping
