// The tree: what one server does with writes.
#include "model/tree.h"
#include "support/test.h"

namespace forelock::model {
namespace {

using namespace coordination;

class TreeTest : public ::testing::Test {
 protected:
  ReplyCode write(const Request& request, SessionId session = 7) {
    reply_ = {};
    changes_.clear();
    return tree_.write(request, Writer{session, true, false, ++zxid_}, reply_, changes_);
  }
  Stat stat(const std::string& path) { return tree_.read(Exists{path}, true).stat; }

  TreeRules rules_;
  Tree tree_{rules_};
  Reply reply_;
  std::vector<Change> changes_;
  std::int64_t zxid_ = 0;
};

TEST_F(TreeTest, EveryCreateCountsAndNothingElse) {
  ASSERT_EQ(write(Create{"/P", ""}), ReplyCode::ok);
  ASSERT_EQ(write(Create{"/P/A-", "", CreateMode::ephemeral_sequential}), ReplyCode::ok);
  EXPECT_EQ(reply_.path, "/P/A-0000000000");
  ASSERT_EQ(write(Create{"/P/privateLock", ""}), ReplyCode::ok);
  ASSERT_EQ(write(SetData{"/P/privateLock", "x"}), ReplyCode::ok);
  ASSERT_EQ(write(Delete{"/P/privateLock"}), ReplyCode::ok);
  ASSERT_EQ(write(Create{"/P/A-0000000000", ""}), ReplyCode::node_exists);
  EXPECT_EQ(stat("/P").created_children(), 2);
  ASSERT_EQ(write(Create{"/P/B-", "", CreateMode::ephemeral_sequential}), ReplyCode::ok);
  EXPECT_EQ(reply_.path, "/P/B-0000000002");
}

TEST_F(TreeTest, AFailedTransactionLeavesNoTrace) {
  ASSERT_EQ(write(Create{"/P", "before"}), ReplyCode::ok);
  ASSERT_EQ(write(Create{"/P/old", "data"}), ReplyCode::ok);
  const Stat parent = stat("/P");
  const std::int64_t pzxid = tree_.find("/P")->pzxid;
  EXPECT_EQ(write(Transaction{{Create{"/P/A-", "", CreateMode::ephemeral_sequential}, SetData{"/P", "after"},
                               Delete{"/P/old"}, Create{"/P/old", "new"}, Delete{"/P/missing"}}}),
            ReplyCode::no_node);
  EXPECT_TRUE(changes_.empty());
  EXPECT_TRUE(reply_.operations.empty());
  EXPECT_EQ(tree_.find("/P")->data, "before");
  EXPECT_EQ(tree_.find("/P/old")->data, "data");
  EXPECT_EQ(tree_.find("/P")->children, std::vector<std::string>{"old"});
  EXPECT_EQ(stat("/P").cversion, parent.cversion);
  EXPECT_EQ(stat("/P").mzxid, parent.mzxid);
  EXPECT_EQ(tree_.find("/P")->pzxid, pzxid);
}

TEST_F(TreeTest, TheCounterSticksAtItsEnd) {
  rules_.first_counter["/P"] = Tree::last_counter - 1;
  ASSERT_EQ(write(Create{"/P", ""}), ReplyCode::ok);
  ASSERT_EQ(write(Create{"/P/A-", "", CreateMode::ephemeral_sequential}), ReplyCode::ok);
  EXPECT_EQ(reply_.path, "/P/A-2147483646");
  ASSERT_EQ(write(Create{"/P/A-", "", CreateMode::ephemeral_sequential}), ReplyCode::ok);
  EXPECT_EQ(reply_.path, "/P/A-2147483647");
  EXPECT_EQ(write(Create{"/P/A-", "", CreateMode::ephemeral_sequential}), ReplyCode::node_exists);
  ASSERT_EQ(write(Create{"/P/B-", "", CreateMode::ephemeral_sequential}), ReplyCode::ok);
  EXPECT_EQ(reply_.path, "/P/B-2147483647");
}

TEST_F(TreeTest, TheReportedCountOverflowsLongBefore) {
  rules_.first_counter["/P"] = std::int64_t{1} << 30;
  ASSERT_EQ(write(Create{"/P", ""}), ReplyCode::ok);
  EXPECT_LT(stat("/P").created_children(), 0);
}

TEST_F(TreeTest, TheEndOfASessionRemovesWhatIsItsOwn) {
  ASSERT_EQ(write(Create{"/P", ""}), ReplyCode::ok);
  ASSERT_EQ(write(Create{"/P/A-", "", CreateMode::ephemeral_sequential}, 7), ReplyCode::ok);
  ASSERT_EQ(write(Create{"/P/mine", "", CreateMode::ephemeral}, 7), ReplyCode::ok);
  ASSERT_EQ(write(Create{"/P/other", "", CreateMode::ephemeral}, 8), ReplyCode::ok);
  changes_.clear();
  tree_.end_session(7, ++zxid_, changes_);
  EXPECT_EQ(changes_.size(), 2u);
  EXPECT_EQ(tree_.find("/P")->children, std::vector<std::string>{"other"});
  EXPECT_EQ(stat("/P").created_children(), 3);
}

TEST_F(TreeTest, PathsOfServers) {
  for (const char* good : {"/", "/P", "/P/A-0000000001", "/a.b", "/..."}) EXPECT_TRUE(valid_path(good)) << good;
  for (const char* bad : {"", "P", "/P/", "//P", "/./P", "/P/..", "/\t", "/\x7f"}) EXPECT_FALSE(valid_path(bad)) << bad;
}

}  // namespace
}  // namespace forelock::model
