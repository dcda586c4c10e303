// The course of a contender as the engine explains it, and its silence when that is not wanted.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

EngineOptions explaining() {
  EngineOptions options;
  options.explain = true;
  return options;
}

using Steps = std::vector<CourseStep>;

class EngineCourseTest : public EngineTest {
 protected:
  explicit EngineCourseTest(EngineOptions options = explaining()) : EngineTest(std::move(options)) {}

  // The contender's steps since the last call.
  Steps steps(ContenderId id) {
    Steps taken;
    for (const Recorder::Explained& one : std::exchange(output_.explained_steps, {})) {
      if (one.contender == id) taken.push_back(one.step);
    }
    return taken;
  }
};

TEST_F(EngineCourseTest, AGrantNamesItsProof) {
  acquire(1, Priority::foreground);
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), claimed("A-0000000005", 100), monitor(2, 7, 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  EXPECT_EQ(steps(1), (Steps{CourseStep::claims_at_once, CourseStep::counted_first}));
  release(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000007", 200));
  ASSERT_EQ(output_.grants.size(), 2u);
  ASSERT_EQ(output_.explained_steps.back().number, 7);
  EXPECT_EQ(steps(2), (Steps{CourseStep::claims_at_once, CourseStep::numbered_first}));
}

TEST_F(EngineCourseTest, AWaiterNamesTheOneBeforeIt) {
  acquire(1, Priority::foreground);
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
  answers<Create, List>(created("A-0000000005"), listing({"A-0000000003", "A-0000000005", "privateLock"}, 6));
  ASSERT_EQ(output_.explained_steps.size(), 4u);
  EXPECT_EQ(output_.explained_steps[2].node, "A-0000000005");
  EXPECT_EQ(output_.explained_steps[3].node, "A-0000000003");
  EXPECT_EQ(steps(1), (Steps{CourseStep::claims_at_once, CourseStep::taken, CourseStep::queued, CourseStep::behind}));
}

TEST_F(EngineCourseTest, AClaimThatYieldsNamesWhoGoesBefore) {
  acquire(1, Priority::background);
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), claimed("B-0000000005", 100), monitor(3, 7, 100));
  answer<List>(listing({"A-0000000004", "B-0000000005", "privateLock"}, 7));
  ASSERT_TRUE(output_.grants.empty());
  ASSERT_FALSE(output_.explained_steps.empty());
  EXPECT_EQ(output_.explained_steps.back().node, "A-0000000004");
  EXPECT_EQ(steps(1), (Steps{CourseStep::claims_at_once, CourseStep::yields}));
}

TEST_F(EngineCourseTest, ALostReplyIsExplainedAndWhatWasFound) {
  claim_lost_with_the_connection(1);
  answers<List, Get>(listing({"A-0000000000", "privateLock"}, 2), node("guid1", our_session));
  answer<Get>(node("guid1", our_session));
  ASSERT_EQ(output_.grants.size(), 1u);
  EXPECT_EQ(steps(1), (Steps{CourseStep::claims_at_once, CourseStep::reply_lost, CourseStep::resolved_owner,
                             CourseStep::resolved_first}));
}

TEST_F(EngineCourseTest, AClaimThatWasNotAppliedBeginsAnew) {
  claim_lost_with_the_connection(1);
  answers<List, Get>(listing({}, 0), failure(ReplyCode::no_node));
  EXPECT_EQ(steps(1), (Steps{CourseStep::claims_at_once, CourseStep::reply_lost, CourseStep::resolved_not_there,
                             CourseStep::claims_at_once}));
}

class EngineSilentTest : public EngineCourseTest {
 protected:
  EngineSilentTest() : EngineCourseTest(EngineOptions()) {}
};

TEST_F(EngineSilentTest, NothingIsExplainedUnlessItIsWanted) {
  cold_cycle(1);
  EXPECT_TRUE(output_.explained_steps.empty());
}

}  // namespace
}  // namespace forelock::lock
