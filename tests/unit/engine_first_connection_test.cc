// A caller who comes before the first connection.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

class EngineFirstConnectionTest : public ::testing::Test {
 protected:
  EngineFirstConnectionTest() {
    AcquireSpec spec;
    spec.monitor = "P";
    spec.guid = "guid";
    spec.record = [](RecordUse, const std::string& guid) { return guid; };
    engine_.acquire(1, spec, now_);
    engine_.tick(now_);
  }
  static EngineOptions impatient() {
    EngineOptions options;
    options.give_up_after = Duration::zero();
    return options;
  }

  TimePoint now_{1h};
  Recorder output_;
  Engine engine_{impatient(), output_};
};

TEST_F(EngineFirstConnectionTest, HasItsTimeWhereNoOutageHas) {
  EXPECT_TRUE(output_.refusals.empty()) << "nothing has been lost yet";
  engine_.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now_}, now_);
  EXPECT_FALSE(output_.sent.empty());
  engine_.on_session({SessionEvent::Kind::disconnected, our_session, 0ms}, now_);
  engine_.tick(now_);
  ASSERT_EQ(output_.refusals.size(), 1u);
  EXPECT_EQ(output_.refusals[0].reason, RefusalReason::connection_lost);
}

TEST_F(EngineFirstConnectionTest, HasNoMoreThanThat) {
  now_ += EngineOptions().first_connection;
  EXPECT_EQ(engine_.next_timer(), now_);
  engine_.tick(now_);
  EXPECT_EQ(output_.refusals.size(), 1u);
}

}  // namespace
}  // namespace forelock::lock
