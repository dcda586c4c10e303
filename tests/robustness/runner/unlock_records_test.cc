#include "robustness/runner/unlock_records.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::robustness {
namespace {

class UnlockRecordsTest : public testing::Test {
 protected:
  void act(const std::string& by, const std::string& holder, const std::string& result) {
    std::ofstream(file_, std::ios::app) << R"({"action":"unlock","at":"2026-01-01T00:00:00.000Z","by":")" << by
                                        << R"(","monitor":"P1","holder":")" << holder << R"(","result":")" << result
                                        << "\"}" << std::endl;
  }
  std::string excuse() {
    records_.read();
    return excuses_.reason("api-1.1", "P1", Excuses::Clock::now());
  }
  std::vector<std::string> problems() {
    records_.read();
    return records_.problems();
  }

  test::TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "audit.jsonl";
  HistoryWriter history_{directory_.path(), "runner", "runner"};
  FaultLog log_{history_};
  Excuses excuses_;
  UnlockRecords records_{file_, log_, excuses_};
};

TEST_F(UnlockRecordsTest, BegunActIsAnExcuseFromThenOn) {
  EXPECT_EQ(problems(), std::vector<std::string>());
  EXPECT_EQ(excuse(), "");
  act("a", "A-0000000001@7", "begun");
  EXPECT_EQ(excuse(), "removed");
  act("a", "A-0000000001@7", "released");
  EXPECT_EQ(excuse(), "removed");
  EXPECT_EQ(problems(), std::vector<std::string>());
  EXPECT_EQ(log_.counts()["overdue_deleted"], 1u);
  EXPECT_EQ(records_.freed(), 1u);
}

TEST_F(UnlockRecordsTest, ActThatHasDoneNothingExcusesNobodyAndOthersStillDo) {
  for (const char* nothing : {"holder_changed", "failed"}) {
    act("a", "A-0000000001@7", "begun");
    EXPECT_EQ(excuse(), "removed") << "its outcome is not known";
    act("a", "A-0000000001@7", nothing);
    EXPECT_EQ(excuse(), "");
  }
  EXPECT_EQ(log_.counts()["overdue_deleted"], 0u);
  for (const char* by : {"a", "b"}) act(by, "A-0000000002@8", "begun");
  act("a", "A-0000000002@8", "unknown");
  act("b", "A-0000000002@8", "holder_changed");
  EXPECT_EQ(excuse(), "removed");
  EXPECT_EQ(log_.counts()["overdue_deleted"], 1u);
  act("a", "A-0000000003@9", "begun");
  act("a", "A-0000000003@9", "holder_changed");
  EXPECT_EQ(excuse(), "removed") << "by its earlier act";
  act("b", "A-0000000003@9", "begun");
  records_.read();
  records_.finish();
  EXPECT_EQ(log_.counts()["overdue_deleted"], 2u) << "it was killed before it could say";
}

TEST_F(UnlockRecordsTest, LastActOfAProcessNeedsNoEnd) {
  act("a", "A-0000000001@7", "begun");
  act("b", "A-0000000001@7", "begun");
  act("b", "A-0000000001@7", "holder_changed");
  EXPECT_EQ(problems(), std::vector<std::string>());
  act("a", "A-0000000002@8", "begun");
  EXPECT_EQ(problems().size(), 1u);
}

TEST_F(UnlockRecordsTest, NobodyIsFreedTwiceAndNothingIsDoneBeforeItIsSaid) {
  for (const char* by : {"a", "b"}) {
    act(by, "A-0000000001@7", "begun");
    act(by, "A-0000000001@7", "released");
  }
  EXPECT_EQ(problems().size(), 1u);
  act("a", "A-0000000003@9", "released");
  EXPECT_EQ(problems().size(), 2u);
}

TEST_F(UnlockRecordsTest, LineThatIsBeingWrittenIsReadWhenItIsComplete) {
  std::ofstream(file_) << R"({"action":"unlock","at":"2026-01-01T00:00:00.000Z","by":"a","monitor":"P1",)"
                       << std::flush;
  EXPECT_EQ(excuse(), "");
  std::ofstream(file_, std::ios::app) << R"("holder":"A-0000000001@7","result":"begun"})" << std::endl;
  EXPECT_EQ(excuse(), "removed");
}

}  // namespace
}  // namespace forelock::robustness
