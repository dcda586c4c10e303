// What becomes of a group that is refused, of one whose answer is lost, and of what was sent as fewer operations.
#include "grouping_fixture.h"

namespace forelock::grouping {
namespace {

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

TEST_F(GroupingSessionTest, WhatNobodyWantsAnyMoreIsNotSentAgain) {
  for (const auto& [tag, monitor] : {std::pair(1u, "P"), {2u, "Q"}, {3u, "R"}}) submit(tag, claim(monitor));
  grouping_.flush();
  grouping_.unwanted(3);
  answer(0, ReplyCode::node_exists, 0);  // of P
  EXPECT_EQ(replies_.at(3).code, ReplyCode::no_node);
  ASSERT_EQ(server_.sent.size(), 2u) << "Q by itself";
  grouping_.unwanted(2);
  answer(1);
  EXPECT_EQ(paths_of(2), (std::vector<std::string>{"/Q/A-0", "/Q/privateLock1"})) << "it is under way";
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

}  // namespace
}  // namespace forelock::grouping
