// The resource of the runs: what it refuses, and which overlaps it shows.
#include <nlohmann/json.hpp>

#include "robustness/history/resource_visitor.h"
#include "robustness/runner/recorded_resource.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::robustness {
namespace {

class RecordedResourceTest : public ::testing::Test {
 protected:
  RecordedCall call(std::uint64_t number, const std::string& monitor = "m") {
    return {writer_, number, monitor, Priority::foreground};
  }
  std::vector<nlohmann::json> events() const {
    std::vector<nlohmann::json> all;
    std::ifstream file(directory_.path() / "resource.ndjson");
    for (std::string line; std::getline(file, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }

  test::TemporaryDirectory directory_;
  Excuses excuses_;
  HistoryWriter writer_{directory_.path(), "test", "api"};
  RecordedResource resource_{directory_.path() / "socket", directory_.path(), excuses_};
  ResourceVisitor one_{resource_.socket(), "one"};
  ResourceVisitor other_{resource_.socket(), "other"};
};

TEST_F(RecordedResourceTest, RefusesTokensThatAreNotHigher) {
  EXPECT_TRUE(one_.enter(call(1), 5));
  EXPECT_TRUE(one_.leave());
  EXPECT_FALSE(other_.enter(call(1), 5));
  EXPECT_FALSE(other_.enter(call(2), 4));
  EXPECT_TRUE(other_.enter(call(3, "another"), 4));
  EXPECT_EQ(resource_.accepted(), 2u);
  const auto written = events();
  ASSERT_EQ(written.size(), 5u);
  EXPECT_EQ(written[0]["event"], "access_begin");
  EXPECT_EQ(written[0]["token"], "5");
  EXPECT_EQ(written[1]["how"], "left");
  EXPECT_EQ(written[2]["accepted"], false);
  EXPECT_EQ(resource_.inside("another")->process, "other");
  EXPECT_FALSE(resource_.inside("m"));
}

TEST_F(RecordedResourceTest, AProcessMayHaveKeptItsLock) {
  EXPECT_TRUE(one_.enter(call(1), 5));
  EXPECT_TRUE(one_.leave());
  EXPECT_TRUE(one_.enter(call(2), 5));
  EXPECT_TRUE(one_.leave());
  EXPECT_TRUE(other_.enter(call(1), 6));
  EXPECT_TRUE(other_.leave());
  EXPECT_FALSE(one_.enter(call(3), 5)) << "another one had it in between";
}

TEST_F(RecordedResourceTest, TwoAtOnceUnderOneGrantAreAnOverlap) {
  excuses_.paused("one");
  ResourceVisitor thread(resource_.socket(), "one");
  EXPECT_TRUE(one_.enter(call(1), 5));
  EXPECT_TRUE(thread.enter(call(2), 5));
  EXPECT_EQ(resource_.overlaps(), 1u);
  EXPECT_TRUE(one_.leave()) << "and nobody is put out, whatever excuses the process";
}

TEST_F(RecordedResourceTest, WhoWasPutOutDoesNotComeAgain) {
  excuses_.paused("one");
  EXPECT_TRUE(one_.enter(call(1), 5));
  EXPECT_TRUE(other_.enter(call(1), 0));
  EXPECT_FALSE(one_.leave());
  EXPECT_TRUE(other_.leave());
  EXPECT_FALSE(one_.enter(call(2), 5));
}

TEST_F(RecordedResourceTest, AnOverlapStaysVisible) {
  EXPECT_TRUE(one_.enter(call(1), 5));
  EXPECT_TRUE(other_.enter(call(1), 6));
  EXPECT_EQ(resource_.overlaps(), 1u);
  EXPECT_TRUE(one_.leave());
  const auto written = events();
  ASSERT_EQ(written.size(), 3u);
  EXPECT_EQ(written[1]["event"], "access_begin");
  EXPECT_EQ(written[2]["how"], "left");
}

TEST_F(RecordedResourceTest, AnExcusedHolderIsPutOut) {
  excuses_.paused("one");
  EXPECT_TRUE(one_.enter(call(1), 5));
  EXPECT_TRUE(other_.enter(call(1), 6));
  EXPECT_EQ(resource_.overlaps(), 0u);
  EXPECT_FALSE(one_.leave()) << "it learns that it was put out";
  const auto written = events();
  ASSERT_EQ(written.size(), 3u);
  EXPECT_EQ(written[1]["how"], "fenced");
  EXPECT_EQ(written[1]["because"], "paused");
  EXPECT_EQ(written[1]["client"], "one");
}

TEST_F(RecordedResourceTest, AnExcuseIsForItsOwnProcessOrMonitor) {
  excuses_.paused("other");
  excuses_.removing("another");
  EXPECT_TRUE(one_.enter(call(1), 5));
  EXPECT_TRUE(other_.enter(call(1), 6));
  EXPECT_EQ(resource_.overlaps(), 1u);
}

TEST_F(RecordedResourceTest, WithoutATokenOnlyOverlapsAreSeen) {
  EXPECT_TRUE(one_.enter(call(1), 5));
  EXPECT_TRUE(one_.leave());
  EXPECT_TRUE(one_.enter(call(2), 0));
  EXPECT_TRUE(other_.enter(call(1), 0));
  EXPECT_EQ(resource_.overlaps(), 1u);
}

TEST_F(RecordedResourceTest, AVisitorThatIsKilledIsGone) {
  {
    ResourceVisitor killed(resource_.socket(), "killed");
    EXPECT_TRUE(killed.enter(call(1), 5));
    EXPECT_EQ(resource_.processes_inside().count("killed"), 1u);
  }
  EXPECT_TRUE(test::wait_until([&] { return !resource_.inside("m"); }));
  EXPECT_EQ(events().back()["how"], "gone");
}

}  // namespace
}  // namespace forelock::robustness
