// The demonstration's own judgement: the resource must see what a broken lock would do, and the report must say so.
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "demo/article_store.h"
#include "demo/options.h"
#include "demo/report.h"
#include "demo/wait_log.h"

namespace forelock::demo {
namespace {

using std::chrono::milliseconds;

TEST(ArticleStore, IsContentWithChangesOneAfterTheOther) {
  ArticleStore store(2);
  store.finish(store.begin(0, 10));
  store.finish(store.begin(1, 5));
  store.finish(store.begin(0, 11));
  EXPECT_TRUE(store.verdict().clean());
  EXPECT_EQ(store.verdict().begun, 3u);
}

TEST(ArticleStore, PermitsDifferentArticlesAtOnce) {
  ArticleStore store(2);
  const auto first = store.begin(0, 1);
  const auto second = store.begin(1, 2);
  store.finish(first);
  store.finish(second);
  EXPECT_TRUE(store.verdict().clean());
}

TEST(ArticleStore, SeesAnOverlapAndTheChangeThatItLoses) {
  ArticleStore store(1);
  const auto first = store.begin(0, 1);
  const auto second = store.begin(0, 2);
  store.finish(first);
  store.finish(second);
  EXPECT_EQ(store.verdict().overlaps, 1u);
  EXPECT_EQ(store.verdict().lost, 1u);
  EXPECT_FALSE(store.verdict().clean());
}

TEST(ArticleStore, SeesTokensThatDoNotRise) {
  ArticleStore store(1);
  store.finish(store.begin(0, 7));
  store.finish(store.begin(0, 7));
  store.finish(store.begin(0, 6));
  store.finish(store.begin(0, 8));
  EXPECT_EQ(store.verdict().stale_tokens, 2u);
}

TEST(ArticleStore, SeesAChangeThatNeverEnds) {
  ArticleStore store(1);
  store.begin(0, 1);
  EXPECT_FALSE(store.verdict().clean());
}

TEST(WaitLog, SummarisesByKind) {
  WaitLog log(1);
  for (int i = 100; i >= 1; --i) log.granted(Kind::interactive, 0, milliseconds(i));
  log.granted(Kind::bulk, 0, milliseconds(5000));
  log.timed_out(Kind::bulk);
  const WaitSummary interactive = log.summary(Kind::interactive);
  EXPECT_EQ(interactive.granted, 100u);
  EXPECT_EQ(interactive.p50, milliseconds(50));
  EXPECT_EQ(interactive.p99, milliseconds(99));
  EXPECT_EQ(interactive.longest, milliseconds(100));
  EXPECT_EQ(interactive.timed_out, 0u);
  EXPECT_EQ(log.summary(Kind::bulk).p50, milliseconds(5000));
  EXPECT_EQ(log.summary(Kind::bulk).timed_out, 1u);
}

TEST(WaitLog, KeepsTheLastInteractiveWaitsOfEachArticle) {
  WaitLog log(2);
  for (int i = 1; i <= 8; ++i) log.granted(Kind::interactive, 1, milliseconds(i));
  log.granted(Kind::bulk, 1, milliseconds(99));
  ASSERT_EQ(log.recent(1).size(), WaitLog::recent_waits);
  EXPECT_EQ(log.recent(1).front(), milliseconds(3));
  EXPECT_EQ(log.recent(1).back(), milliseconds(8));
  EXPECT_TRUE(log.recent(0).empty());
}

class Report : public testing::Test {
 protected:
  Report() {
    priorities_.interactive = {10, 0, milliseconds(10), milliseconds(20), milliseconds(30)};
    one_queue_.interactive = {10, 0, milliseconds(100), milliseconds(200), milliseconds(300)};
    store_ = {20, 20, 0, 0, 0};
  }

  bool passes() {
    out_.str("");
    return report(out_, Style(false), priorities_, one_queue_, store_);
  }
  bool says(const std::string& text) const { return out_.str().find(text) != std::string::npos; }

  PhaseResult priorities_;
  PhaseResult one_queue_;
  StoreVerdict store_;
  std::ostringstream out_;
};

TEST_F(Report, PassesWhenEverythingIsAsItShouldBe) {
  EXPECT_TRUE(passes());
  EXPECT_FALSE(says("FAILED"));
  EXPECT_FALSE(says("\033"));
}

TEST_F(Report, FailsForEachBrokenRule) {
  const StoreVerdict clean = store_;
  for (const StoreVerdict& broken : {StoreVerdict{20, 20, 1, 0, 0}, StoreVerdict{20, 20, 0, 1, 0},
                                     StoreVerdict{20, 20, 0, 0, 1}, StoreVerdict{20, 19, 0, 0, 0}, StoreVerdict{}}) {
    store_ = broken;
    EXPECT_FALSE(passes());
    EXPECT_TRUE(says("FAILED"));
  }
  store_ = clean;
  one_queue_.failures = 1;
  one_queue_.last_failure = "connection lost";
  EXPECT_FALSE(passes());
  EXPECT_TRUE(says("connection lost"));
}

TEST_F(Report, FailsWhenPrioritiesDidNotHelp) {
  priorities_.interactive.p50 = one_queue_.interactive.p50;
  EXPECT_FALSE(passes());
}

TEST_F(Report, FailsWhenAnInteractiveSaveTimedOut) {
  priorities_.interactive.timed_out = 1;
  EXPECT_FALSE(passes());
}

TEST(Options, AreRead) {
  const Options options =
      parse_options({"--config", "a.properties", "--zookeeper", "h:1", "--seconds", "3", "--plain"});
  EXPECT_EQ(options.config, "a.properties");
  EXPECT_EQ(options.zookeeper, "h:1");
  EXPECT_EQ(options.duration, std::chrono::seconds(3));
  EXPECT_TRUE(options.plain);
}

TEST(Options, RefuseWhatTheyDoNotUnderstand) {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--seconds"},
                                                {"--seconds", "x"},
                                                {"--seconds", "0"},
                                                {"--articles", "3x"},
                                                {"--frobnicate"}}) {
    EXPECT_THROW(parse_options(wrong), std::invalid_argument) << wrong.front();
  }
}

}  // namespace
}  // namespace forelock::demo
