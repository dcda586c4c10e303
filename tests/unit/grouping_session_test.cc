#include "grouping/grouping_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forelock::grouping {
namespace {

using namespace coordination;

// The session below: keeps what it gets until the test answers it.
class Server final : public Session {
 public:
  struct Sent {
    RequestTag tag = 0;
    Request request;
  };

  void submit(RequestTag tag, Request request) override { sent.push_back({tag, std::move(request)}); }

  // How many operations each request has, 0 for one that is no transaction.
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const Sent& one : sent) {
      const auto* transaction = std::get_if<Transaction>(&one.request);
      sizes.push_back(transaction == nullptr ? 0 : transaction->operations.size());
    }
    return sizes;
  }

  std::vector<Sent> sent;
};

class GroupingSessionTest : public ::testing::Test, public SessionListener {
 protected:
  GroupingSessionTest() { grouping_.use(&server_); }

  void on_reply(RequestTag tag, Reply reply) override {
    order_.push_back(tag);
    EXPECT_TRUE(replies_.emplace(tag, std::move(reply)).second) << "answered twice: " << tag;
    if (const auto next = then_.find(tag); next != then_.end()) submit(next->second.first, next->second.second);
  }
  void on_watch(const WatchEvent& event) override { watches_.push_back(event.path); }
  void on_session(const SessionEvent&) override { answered_before_event_ = order_.size(); }

  static Transaction claim(const std::string& monitor) {
    Transaction transaction{{Create{"/" + monitor + "/A-", "record", CreateMode::ephemeral_sequential},
                             Create{"/" + monitor + "/privateLock", "", CreateMode::ephemeral}}};
    transaction.groupable = true;
    return transaction;
  }

  void submit(RequestTag tag, Request request) { grouping_.submit(tag, std::move(request)); }
  void step(RequestTag tag, Request request) {
    submit(tag, std::move(request));
    grouping_.flush();
  }
  // Two claims are under way; from now on more are held back.
  void keep_busy() {
    step(901, claim("X"));
    step(902, claim("Y"));
    ASSERT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2}));
  }

  // Answers the n-th request that was sent. Each operation's path tells its place in it.
  void answer(std::size_t n, ReplyCode code = ReplyCode::ok, std::optional<std::size_t> refused_operation = {}) {
    const Server::Sent& sent = server_.sent.at(n);
    Reply reply;
    reply.code = code;
    reply.refused_operation = refused_operation;
    if (const auto* transaction = std::get_if<Transaction>(&sent.request); transaction != nullptr && reply.ok()) {
      for (std::size_t i = 0; i < transaction->operations.size(); ++i) {
        const auto* create = std::get_if<Create>(&transaction->operations[i]);
        const auto* write = std::get_if<SetData>(&transaction->operations[i]);
        reply.operations.push_back({create == nullptr ? "" : create->path + std::to_string(i), {}});
        if (write == nullptr) continue;
        reply.operations.back().stat.mzxid = 77;
        reply.operations.back().stat.version = 1;
      }
    }
    grouping_.on_reply(sent.tag, std::move(reply));
    grouping_.flush();
  }

  std::vector<std::string> paths_of(RequestTag tag) {
    std::vector<std::string> paths;
    for (const OperationResult& one : replies_.at(tag).operations) paths.push_back(one.path);
    return paths;
  }

  Server server_;
  GroupingSession grouping_{{.at_once = 2, .under_way = 2, .operations = 6, .bytes = 4096}, *this};
  std::map<RequestTag, Reply> replies_;
  std::vector<RequestTag> order_;
  std::map<RequestTag, std::pair<RequestTag, Request>> then_;
  std::vector<std::string> watches_;
  std::size_t answered_before_event_ = 0;
};

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

class FoldingTest : public GroupingSessionTest {
 protected:
  // With the record that privateLock gets.
  static Transaction claim(const std::string& monitor) {
    Transaction transaction = GroupingSessionTest::claim(monitor);
    transaction.operations.emplace_back(SetData{"/" + monitor + "/privateLock", "record of " + monitor});
    return transaction;
  }
  void claim_two() {
    submit(1, claim("P"));
    submit(2, claim("Q"));
    grouping_.flush();
    ASSERT_EQ(server_.sizes(), std::vector<std::size_t>{5});
  }
};

TEST_F(FoldingTest, OneWriteTellsTheNumberOfTheWholeGroup) {
  claim_two();
  const auto& sent = std::get<Transaction>(server_.sent[0].request).operations;
  EXPECT_EQ(std::get<Create>(sent[1]).data, "");
  EXPECT_EQ(std::get<SetData>(sent[2]).data, "record of P");
  EXPECT_EQ(std::get<Create>(sent[4]).data, "record of Q");
  answer(0);
  EXPECT_EQ(paths_of(1), (std::vector<std::string>{"/P/A-0", "/P/privateLock1", ""}));
  EXPECT_EQ(paths_of(2), (std::vector<std::string>{"/Q/A-3", "/Q/privateLock4", ""}));
  EXPECT_EQ(replies_.at(1).operations[2].stat.version, 1);
  EXPECT_EQ(replies_.at(2).operations[2].stat.version, 0);
  EXPECT_EQ(replies_.at(1).operations[2].stat.mzxid, 77);
  EXPECT_EQ(replies_.at(2).operations[2].stat.mzxid, 77);
}

TEST_F(FoldingTest, ARefusalNamesTheOperationOfTheMember) {
  claim_two();
  answer(0, ReplyCode::node_exists, 4);
  EXPECT_EQ(replies_.at(2).refused_operation, 1u);
  ASSERT_EQ(server_.sizes(), (std::vector<std::size_t>{5, 3})) << "the other one, by itself";
  answer(1);
  EXPECT_EQ(replies_.at(1).operations.size(), 3u);
  EXPECT_EQ(replies_.at(1).operations[2].stat.mzxid, 77);
}

TEST_F(FoldingTest, WhatIsSentAgainByItselfWritesAgain) {
  claim_two();
  answer(0, ReplyCode::node_exists, 0);
  ASSERT_EQ(server_.sizes(), (std::vector<std::size_t>{5, 3}));
  answer(1);
  EXPECT_EQ(replies_.at(2).operations[2].stat.version, 1);
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

TEST_F(GroupingSessionTest, ARefusedGroupIsSentAgainOneByOneInOrder) {
  submit(1, claim("P"));
  submit(2, claim("Q"));
  grouping_.flush();
  step(3, List{"/P", false});
  answer(0, ReplyCode::node_exists);
  EXPECT_TRUE(replies_.empty());
  ASSERT_EQ(server_.sizes(), (std::vector<std::size_t>{4, 2, 0, 2}));
  EXPECT_EQ(server_.sent[2].tag, 3u);
  answer(1);
  answer(3, ReplyCode::node_exists);
  EXPECT_EQ(paths_of(1), (std::vector<std::string>{"/P/A-0", "/P/privateLock1"}));
  EXPECT_EQ(replies_.at(2).code, ReplyCode::node_exists);
}

// As if it had been sent by itself: the others are of other monitors.
TEST_F(GroupingSessionTest, TheMemberThatAGroupIsRefusedForHasItsAnswer) {
  for (const auto& [tag, monitor] : {std::pair(1u, "P"), {2u, "Q"}, {3u, "R"}}) submit(tag, claim(monitor));
  grouping_.flush();
  step(4, List{"/P", false});
  step(5, List{"/Q", false});
  answer(0, ReplyCode::node_exists, 3);  // of Q
  EXPECT_EQ(order_, std::vector<RequestTag>{2});
  EXPECT_EQ(replies_.at(2).code, ReplyCode::node_exists);
  EXPECT_EQ(replies_.at(2).refused_operation, 1u);
  ASSERT_EQ(server_.sizes(), (std::vector<std::size_t>{6, 2, 0, 0, 2}));
  EXPECT_EQ(server_.sent[2].tag, 4u) << "what follows for P is behind it";
  EXPECT_EQ(server_.sent[3].tag, 5u) << "what follows for Q goes";
  answer(1);
  answer(4);
  EXPECT_EQ(paths_of(1), (std::vector<std::string>{"/P/A-0", "/P/privateLock1"}));
  EXPECT_EQ(paths_of(3), (std::vector<std::string>{"/R/A-0", "/R/privateLock1"}));
}

TEST_F(GroupingSessionTest, ThoseBeforeARefusedOneGoTogetherAndThoseBehindItAfterwards) {
  GroupingSession grouping({.at_once = 8}, *this);
  Server server;
  grouping.use(&server);
  for (RequestTag tag = 1; tag <= 12; ++tag) grouping.submit(tag, claim("P" + std::to_string(tag)));
  grouping.flush();
  ASSERT_EQ(server.sizes(), std::vector<std::size_t>{24});
  Reply refusal;
  refusal.code = ReplyCode::node_exists;
  refusal.refused_operation = 17;
  grouping.on_reply(server.sent[0].tag, refusal);
  EXPECT_EQ(server.sizes(), (std::vector<std::size_t>{24, 16}));
  EXPECT_EQ(order_, std::vector<RequestTag>{9});
  EXPECT_TRUE(grouping.withdraw(11)) << "it is held back again";
  EXPECT_FALSE(grouping.withdraw(11));
  EXPECT_FALSE(grouping.withdraw(3)) << "it is under way";
  Reply done;
  done.operations.resize(16);
  grouping.on_reply(server.sent[1].tag, done);
  grouping.flush();
  EXPECT_EQ(server.sizes(), (std::vector<std::size_t>{24, 16, 4})) << "10 and 12";
}

TEST_F(GroupingSessionTest, AMemberOfManyRefusedGroupsGoesByItself) {
  GroupingSession grouping({.at_once = 8}, *this);
  Server server;
  grouping.use(&server);
  for (RequestTag tag = 1; tag <= 8; ++tag) grouping.submit(tag, claim("P" + std::to_string(tag)));
  grouping.flush();
  for (std::size_t n = 0; n < 4; ++n) {
    Reply refusal;
    refusal.code = ReplyCode::node_exists;
    refusal.refused_operation = 0;
    grouping.on_reply(server.sent.at(n).tag, refusal);
    grouping.flush();
  }
  EXPECT_EQ(server.sizes(), (std::vector<std::size_t>{16, 14, 12, 10, 2, 2, 2, 2}));
  EXPECT_EQ(order_, (std::vector<RequestTag>{1, 2, 3, 4}));
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

TEST_F(GroupingSessionTest, ALostAnswerIsLostForAllAndForWhatWasHeldBack) {
  submit(1, claim("P"));
  submit(2, claim("Q"));
  grouping_.flush();
  step(901, claim("X"));
  step(3, claim("R"));
  step(4, List{"/P", false});
  answer(0, ReplyCode::connection_loss);
  answer(1, ReplyCode::connection_loss);
  for (RequestTag tag = 1; tag <= 4; ++tag) EXPECT_EQ(replies_.at(tag).code, ReplyCode::connection_loss) << tag;
  EXPECT_EQ(server_.sent.size(), 2u);
  step(5, claim("P"));
  EXPECT_EQ(server_.sent.size(), 3u) << "whether there is a connection again, the session below knows";
}

TEST_F(GroupingSessionTest, WhatIsHeldBackIsAnsweredBehindWhatWasUnderWay) {
  keep_busy();
  step(1, Get{"/P", false});
  step(2, claim("P"));
  step(3, Get{"/P", false});
  answer(0, ReplyCode::connection_loss);
  answer(1, ReplyCode::connection_loss);
  EXPECT_EQ(replies_.size(), 2u);
  answer(2, ReplyCode::connection_loss);
  EXPECT_EQ(order_, (std::vector<RequestTag>{901, 902, 1, 2, 3}));
}

TEST_F(GroupingSessionTest, EverythingIsAnsweredBeforeTheDisconnection) {
  keep_busy();
  step(1, claim("P"));
  step(2, List{"/P", false});
  answer(0, ReplyCode::connection_loss);
  answer(1, ReplyCode::connection_loss);
  grouping_.on_session({.kind = SessionEvent::Kind::disconnected});
  EXPECT_EQ(answered_before_event_, 4u);
  grouping_.flush();
  EXPECT_EQ(server_.sent.size(), 2u);
}

TEST_F(GroupingSessionTest, ANewSessionBeginsWithNothing) {
  keep_busy();
  step(1, claim("P"));
  Server next;
  grouping_.use(&next);
  step(2, claim("P"));
  step(3, claim("Q"));
  EXPECT_EQ(next.sizes(), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(server_.sent.size(), 2u);
}

TEST_F(GroupingSessionTest, ServerErrorsAreUnknownForAll) {
  submit(1, claim("P"));
  submit(2, claim("Q"));
  grouping_.flush();
  answer(0, ReplyCode::server_error);
  EXPECT_EQ(replies_.at(1).code, ReplyCode::server_error);
  EXPECT_EQ(replies_.at(2).code, ReplyCode::server_error);
  EXPECT_EQ(server_.sent.size(), 1u);
}

// In a monitor made anew the names would be other clients'.
TEST_F(GroupingSessionTest, WhatWasRefusedIsNotSentAgainToAMonitorThatHasBeenDeleted) {
  submit(1, claim("P"));
  submit(2, claim("Q"));
  grouping_.flush();
  step(3, List{"/P", false});
  grouping_.on_watch({WatchEvent::Kind::deleted, "/P"});
  answer(0, ReplyCode::no_node);
  EXPECT_EQ(replies_.at(1).code, ReplyCode::no_node);
  ASSERT_EQ(server_.sent.size(), 3u);
  EXPECT_EQ(server_.sent[1].tag, 3u);
  answer(2);
  EXPECT_TRUE(replies_.at(2).ok());
}

TEST_F(GroupingSessionTest, WhatIsHeldBackIsNotSentToAMonitorThatHasBeenDeleted) {
  keep_busy();
  step(1, claim("P"));
  step(2, List{"/P", false});
  grouping_.on_watch({WatchEvent::Kind::deleted, "/P/A-0000000000"});
  EXPECT_EQ(replies_.count(1), 0u);
  grouping_.on_watch({WatchEvent::Kind::deleted, "/P"});
  EXPECT_EQ(replies_.at(1).code, ReplyCode::connection_loss);
  answer(0);
  answer(1);
  ASSERT_EQ(server_.sent.size(), 3u);
  EXPECT_EQ(server_.sent[2].tag, 2u);
}

TEST_F(GroupingSessionTest, NorIsAWriteThatWaitsBehindIt) {
  submit(1, claim("P"));
  submit(2, claim("Q"));
  grouping_.flush();
  step(3, Delete{"/P/A-0000000000"});
  step(4, List{"/P", false});
  grouping_.on_watch({WatchEvent::Kind::deleted, "/P"});
  answer(0);
  EXPECT_TRUE(replies_.at(1).ok());
  EXPECT_EQ(replies_.at(3).code, ReplyCode::connection_loss);
  ASSERT_EQ(server_.sent.size(), 2u);
  EXPECT_EQ(server_.sent[1].tag, 4u);
}

TEST_F(GroupingSessionTest, WatchesComeThroughAtOnce) {
  keep_busy();
  step(1, claim("P"));
  grouping_.on_watch({WatchEvent::Kind::deleted, "/P"});
  EXPECT_EQ(watches_, std::vector<std::string>{"/P"});
}

}  // namespace
}  // namespace forelock::grouping
