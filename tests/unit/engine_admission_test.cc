// Who may wait: the limit of a queue, and waits that would be in vain.
#include "engine_fixture.h"
#include "lock/service_times.h"

namespace forelock::lock {
namespace {

class EngineAdmissionTest : public EngineTest {
 protected:
  // Another process holds the monitor, and so many foreground contenders of others wait. Ours joins behind them.
  void join_behind(ContenderId id, std::size_t waiting, AcquireSpec spec) {
    engine_.acquire(id, std::move(spec), now_);
    answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
    std::vector<std::string> children{"privateLock"};
    for (std::size_t i = 0; i <= waiting; ++i) children.push_back(name(i));
    const auto count = static_cast<std::int32_t>(children.size());
    children.push_back(name(waiting + 1));
    answers<Create, List>(created(name(waiting + 1)), listing(children, count + 1));
  }
  static std::string name(std::size_t number) {
    const std::string digits = std::to_string(number);
    return "A-" + std::string(10 - digits.size(), '0') + digits;
  }
  AcquireSpec limited(ContenderId id, std::size_t most) const {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.queue_max = most;
    return spec;
  }
};

TEST_F(EngineAdmissionTest, OneMoreThanMayWaitIsRefusedAndItsNodeRemoved) {
  join_behind(1, 3, limited(1, 3));
  expect_refused(RefusalReason::not_admitted);
  ASSERT_TRUE(output_.refusals[0].position);
  EXPECT_EQ(output_.refusals[0].position->place, 4u);
  answer<Delete>({});
  EXPECT_EQ(output_.forgotten_count, 1);
}

TEST_F(EngineAdmissionTest, AsManyAsMayWaitDo) {
  join_behind(1, 3, limited(1, 4));
  EXPECT_TRUE(output_.refusals.empty());
}

TEST_F(EngineAdmissionTest, OnesOwnAreCountedWithoutALook) {
  cold_cycle(1);
  engine_.acquire(2, limited(2, 2), now_);
  answer<Transaction>(claimed("A-0000000002", 200));
  ASSERT_EQ(output_.grants.size(), 2u);
  for (ContenderId id = 3; id <= 5; ++id) engine_.acquire(id, limited(id, 2), now_);
  for (int i = 0; i < 3; ++i) answer<Create>(created("A-000000000" + std::to_string(4 + i)));
  ASSERT_EQ(output_.refusals.size(), 1u) << "two of them may wait";
  EXPECT_EQ(output_.refusals[0].reason, RefusalReason::not_admitted);
  ASSERT_TRUE(output_.refusals[0].position);
  EXPECT_EQ(output_.refusals[0].position->place, 3u);
}

// Twenty of ours have been served, each after 20 ms, when twelve more come, of which one has less time.
TEST_F(EngineAdmissionTest, AWaitThatWouldBeInVainIsRefused) {
  const auto ask_for = [&](ContenderId id, Duration patience) {
    AcquireSpec spec = spec_of(id, Priority::foreground, patience);
    spec.refuse_in_vain = true;
    engine_.acquire(id, std::move(spec), now_);
    answer<Create>(created(name(id + 1)));  // privateLock has a number, too
  };
  cold_cycle(1);
  engine_.acquire(2, spec_of(2, Priority::foreground), now_);
  answer<Transaction>(claimed(name(2), 200));
  for (ContenderId id = 3; id < 23; ++id) ask_for(id, 1h);
  EXPECT_TRUE(output_.refusals.empty()) << "nothing is known yet";
  for (ContenderId id = 2; id < 22; ++id) {
    now_ += 20ms;
    answer_heartbeats();
    ASSERT_TRUE(engine_.release(id, now_));
    answer<Transaction>(claimed("", static_cast<Token>(300 + id)));
    ASSERT_EQ(output_.grants.size(), id + 1) << "ours hand it over";
  }
  for (ContenderId id = 23; id < 34; ++id) ask_for(id, 1h);
  ask_for(34, 200ms);
  ASSERT_EQ(output_.refusals.size(), 1u) << "eleven before it take 240 ms";
  EXPECT_EQ(output_.refusals[0].reason, RefusalReason::not_admitted);
  ASSERT_TRUE(output_.refusals[0].wait_left);
  EXPECT_GT(*output_.refusals[0].wait_left, 200ms);
  answer<Delete>({});
  ask_for(35, 250ms);
  ASSERT_EQ(output_.refusals.size(), 2u) << "so little time more than 240 ms is a matter of luck";
  answer<Delete>({});
  ask_for(36, 260ms);
  EXPECT_EQ(output_.refusals.size(), 2u) << "it has the time";
}

// Twenty that are told their places have been served, each after 20 ms, when another one comes.
TEST_F(EngineAdmissionTest, WhoIsToldItsPlaceIsToldHowLongItWillWait) {
  const auto ask_for = [&](ContenderId id) {
    AcquireSpec spec = spec_of(id, Priority::foreground, 1h);
    spec.wants_position = true;
    engine_.acquire(id, std::move(spec), now_);
    answer<Create>(created(name(id + 1)));  // privateLock has a number, too
  };
  cold_cycle(1);
  engine_.acquire(2, spec_of(2, Priority::foreground), now_);
  answer<Transaction>(claimed(name(2), 200));
  for (ContenderId id = 3; id < 23; ++id) ask_for(id);
  ASSERT_FALSE(output_.positions.empty());
  EXPECT_EQ(output_.positions.back().place, 20u);
  EXPECT_FALSE(output_.positions.back().expected_wait) << "nothing is known yet";
  for (ContenderId id = 2; id < 22; ++id) {
    now_ += 20ms;
    answer_heartbeats();
    ASSERT_TRUE(engine_.release(id, now_));
    answer<Transaction>(claimed("", static_cast<Token>(300 + id)));
  }
  for (ContenderId id = 23; id < 28; ++id) ask_for(id);
  EXPECT_EQ(output_.positions.back(), (QueuePosition{5, name(27)}));
  ASSERT_TRUE(output_.positions.back().expected_wait);
  EXPECT_GE(*output_.positions.back().expected_wait, 100ms);
  EXPECT_LE(*output_.positions.back().expected_wait, 110ms);
}

// The last of twenty in the background has been made foreground, and is served at once: it has not come forward so
// fast.
TEST_F(EngineAdmissionTest, WhoHasBeenMovedSaysNothingOfHowFastAQueueIs) {
  const auto ask_for = [&](ContenderId id, Priority priority, const std::string& node) {
    AcquireSpec spec = spec_of(id, priority, 1h);
    spec.wants_position = true;
    engine_.acquire(id, std::move(spec), now_);
    answer<Create>(created(node));
  };
  cold_cycle(1);
  engine_.acquire(2, spec_of(2, Priority::foreground), now_);
  answer<Transaction>(claimed(name(2), 200));
  std::vector<std::string> children{"privateLock", name(2)};
  for (ContenderId id = 3; id < 23; ++id) {
    const std::string node = "B" + name(id + 1).substr(1);
    ask_for(id, Priority::background, node);
    children.push_back(node);
  }
  ASSERT_TRUE(engine_.set_priority(22, Priority::foreground, {}, now_));
  answer<List>(listing(children, 24));  // a holder looks who waits
  Reply moved;
  moved.operations.resize(2);
  moved.operations[0].path = "/P/" + name(24);
  answer<Transaction>(moved);
  now_ += 20ms;
  answer_heartbeats();
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(claimed("", 300));
  ASSERT_EQ(output_.grants.size(), 3u);
  ask_for(23, Priority::foreground, name(25));
  EXPECT_EQ(output_.positions.back(), (QueuePosition{1, "privateLock"}));
  EXPECT_FALSE(output_.positions.back().expected_wait);
}

// What it waited for before its first grant says nothing of the time that it held the lock.
TEST_F(EngineAdmissionTest, AHoldAndASecondGrantAreNoWait) {
  const auto ask_for = [&](ContenderId id, Duration patience) {
    AcquireSpec spec = spec_of(id, Priority::foreground, patience);
    spec.refuse_in_vain = true;
    engine_.acquire(id, std::move(spec), now_);
    answer<Create>(created(name(id + 1)));
  };
  cold_cycle(1);
  engine_.acquire(2, spec_of(2, Priority::foreground), now_);
  answer<Transaction>(claimed(name(2), 200));
  for (ContenderId id = 3; id < 23; ++id) ask_for(id, 1h);
  for (ContenderId id = 2; id < 22; ++id) {
    now_ += 20ms;
    answer_heartbeats();
    ASSERT_TRUE(engine_.release(id, now_));
    answer<Transaction>(claimed("", static_cast<Token>(300 + id)));
  }
  now_ += 2s;
  ASSERT_TRUE(engine_.step_aside(22, now_ + 1h, now_));
  answers<Transaction, List, Transaction>({}, listing({name(23)}, 24), claimed("", 400));
  ASSERT_EQ(engine_.state(22), ContenderState::held);
  for (ContenderId id = 23; id < 34; ++id) ask_for(id, 1h);
  ask_for(34, 400ms);
  EXPECT_TRUE(output_.refusals.empty()) << "eleven before it take 240 ms";
}

// It had no wait to be refused: who has held the lock keeps its place, however many may wait.
TEST_F(EngineAdmissionTest, AHolderThatStepsAsideIsNoNewcomer) {
  AcquireSpec spec = spec_of(1, Priority::background);
  spec.queue_max = 1;
  spec.contention = ContentionScope::all;
  engine_.acquire(1, std::move(spec), now_);
  answers<Create, Transaction, Get>({}, claimed("B-0000000000", 100), monitor(2, 2, 100));
  ASSERT_EQ(engine_.state(1), ContenderState::held);
  answer<List>(listing({"B-0000000000", "privateLock", "A-0000000002", "A-0000000003"}, 4));
  ASSERT_TRUE(engine_.step_aside(1, now_ + 1h, now_));
  answers<Transaction, List>({}, listing({"B-0000000000", "A-0000000002", "A-0000000003"}, 4));
  EXPECT_TRUE(output_.refusals.empty());
  EXPECT_EQ(engine_.state(1), ContenderState::waiting);
}

TEST_F(EngineAdmissionTest, ASingleAttemptIsNoWait) {
  AcquireSpec spec = limited(1, 1);
  spec.try_once = true;
  engine_.acquire(1, std::move(spec), now_);
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST(ServiceTimes, AreNotGuessed) {
  ServiceTimes times;
  for (std::size_t i = 1; i < ServiceTimes::least_places; ++i) times.add(10ms, 1);
  EXPECT_EQ(times.wait(3), std::nullopt);
  times.add(10ms, 1);
  EXPECT_EQ(times.wait(3), 30ms);
}

TEST(ServiceTimes, AreThoseOfTheLastPlaces) {
  ServiceTimes times;
  for (int i = 0; i < 100; ++i) times.add(1s, 1);
  times.add(640ms, ServiceTimes::kept_places);
  EXPECT_EQ(times.wait(2), 20ms);
}

TEST(ServiceTimes, AWaitWithoutProgressCountsIfItIsLonger) {
  ServiceTimes times;
  times.add(320ms, 32);
  times.add(5ms, 0);
  EXPECT_EQ(times.wait(1), 10ms);
  times.add(340ms, 0);
  EXPECT_EQ(times.wait(1), 20ms);
}

}  // namespace
}  // namespace forelock::lock
