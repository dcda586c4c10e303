// Lock sets on a real server.
#include "integration/fixture.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class LockSetTest : public SharedServerTest<> {
 protected:
  static Settings settings() { return settings_for(server_->connect_string()); }

  Client client_{settings()};
  Client other_{settings()};
};

// A server keeps its last 500 transactions in memory, whatever their size.
TEST_F(LockSetTest, LargeSetsAgainAndAgainDoNotFillTheServersMemory) {
  TestServer server(quick_server());
  Client client(settings_for(server.connect_string(), {{"zookeeper.session.timeout", "60000"}}));
  std::vector<std::string> monitors;
  for (int i = 0; i < 500; ++i) monitors.push_back("articles/document-" + std::to_string(i));
  LockSet set(client, std::string(300, 'i'), monitors);
  for (int cycle = 0; cycle < 150; ++cycle) {
    ASSERT_NO_THROW(set.lock_with_timeout()) << cycle;
    ASSERT_NO_THROW(set.unlock_or_throw()) << cycle;
  }
}

TEST_F(LockSetTest, IsHeldWithAllItsMembersAndLeavesNothing) {
  LockSet set(client_, "bulk", {"c", "a", "b", "a"});
  set.lock_with_timeout();
  EXPECT_TRUE(set.healthy());
  EXPECT_EQ(set.state(), LockState::held);
  EXPECT_GT(set.expires_at(), std::chrono::steady_clock::now());
  for (const MemberToken& member : set.fencing_tokens()) {
    BlockingWriteLock lock(other_, "single", member.monitor);
    EXPECT_FALSE(lock.try_lock()) << member.monitor;
    EXPECT_EQ(Inspector(other_).show(member.monitor)->holder->token, member.token);
    EXPECT_EQ(set.fencing_token(member.monitor), member.token);
  }
  EXPECT_THROW(set.fencing_token("d"), RequestRejectedException);
  const auto owner = Inspector(other_).show("b")->holder->owner;
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->set_size, 3u);
  EXPECT_THAT(owner->set_members, ElementsAre("a", "b", "c"));
  EXPECT_EQ(owner->set, Inspector(other_).show("a")->holder->owner->set);
  set.unlock_or_throw();
  EXPECT_FALSE(set.healthy());
  EXPECT_THAT(ephemeral_nodes(*server_), IsEmpty());
  EXPECT_THROW(set.unlock_or_throw(), NoNodeException);
}

TEST_F(LockSetTest, HundredsOfMembersAreOneLock) {
  std::vector<std::string> monitors;
  for (int i = 0; i < 200; ++i) monitors.push_back("many-" + std::to_string(i));
  LockSet set(client_, "bulk", monitors);
  set.lock_with_timeout();
  EXPECT_EQ(ephemeral_nodes(*server_).size(), 400u);
  const auto before = client_.statistics().released;
  set.unlock_or_throw();
  EXPECT_EQ(client_.statistics().released - before, 200u);
  EXPECT_THAT(ephemeral_nodes(*server_), IsEmpty());
}

TEST_F(LockSetTest, WaitsForABusyMemberWithTheSmallerOnesAlone) {
  BlockingWriteLock busy(other_, "busy", "b");
  busy.lock_with_timeout();
  LockSet set(client_, "bulk", {"a", "b", "c"});
  EXPECT_FALSE(set.try_lock());
  EXPECT_FALSE(set.owns_lock());
  auto granted = std::async(std::launch::async, [&] { set.lock_with_timeout(); });
  ASSERT_TRUE(wait_until([&] { return set.waits_for() == "b"; }));
  BlockingWriteLock first(other_, "single", "a");
  EXPECT_FALSE(first.try_lock());
  BlockingWriteLock last(other_, "single", "c");
  EXPECT_TRUE(wait_until([&] { return last.try_lock(); })) << "it is given back";
  last.unlock();
  busy.unlock();
  granted.get();
  EXPECT_TRUE(set.healthy());
}

// One that waits for one member holds up the foreground at no other, in its own process and elsewhere.
TEST_F(LockSetTest, ABackgroundSetThatWaitsGivesItsMembersToTheForeground) {
  BlockingWriteLock busy(other_, "busy", "c");
  busy.lock_with_timeout();
  LockSet set(client_, "bulk", {"a", "b", "c"}, Priority::background);
  auto granted = std::async(std::launch::async, [&] { set.lock_with_timeout(); });
  ASSERT_TRUE(wait_until([&] { return set.waits_for() == "c"; }));
  BlockingWriteLock here(client_, "save", "a");
  ASSERT_TRUE(here.try_lock_for(10s));
  BlockingWriteLock elsewhere(other_, "save", "b");
  ASSERT_TRUE(elsewhere.try_lock_for(10s));
  EXPECT_EQ(set.waits_for(), "c") << "it keeps its place";
  here.unlock();
  busy.unlock();
  EXPECT_TRUE(wait_until([&] { return set.waits_for() == "b"; })) << "it takes again what it has given back";
  elsewhere.unlock();
  granted.get();
  EXPECT_TRUE(set.healthy());
  EXPECT_EQ(set.fencing_tokens().size(), 3u);
  set.unlock_or_throw();
  EXPECT_THAT(ephemeral_nodes(*server_), IsEmpty());
}

// The member that it has waited for is followed at once by one that its own process holds.
TEST_F(LockSetTest, ABackgroundSetGivesWayAtWhatItHasWaitedForToo) {
  BlockingWriteLock first(other_, "first", "again-a");
  first.lock_with_timeout();
  BlockingWriteLock second(client_, "second", "again-b");
  second.lock_with_timeout();
  LockSet set(client_, "bulk", {"again-a", "again-b"}, Priority::background);
  auto granted = std::async(std::launch::async, [&] { set.lock_with_timeout(); });
  ASSERT_TRUE(wait_until([&] { return set.waits_for() == "again-a"; }));
  const auto steps = std::chrono::steady_clock::now() + 300ms;
  ASSERT_TRUE(wait_until([&] { return std::chrono::steady_clock::now() > steps; }));
  first.unlock();
  ASSERT_TRUE(wait_until([&] { return set.waits_for() == "again-b"; }));
  ASSERT_TRUE(first.try_lock_for(10s));
  EXPECT_EQ(set.waits_for(), "again-b") << "it keeps its place";
  first.unlock();
  second.unlock();
  granted.get();
  EXPECT_TRUE(set.healthy());
}

// Each looks busy, and is released when its process sees that somebody wants it.
TEST_F(LockSetTest, MembersThatLingerWithAnotherProcessAreNotWaitedForOneByOne) {
  std::vector<std::string> monitors;
  for (int i = 0; i < 300; ++i) monitors.push_back("lingering-" + std::to_string(1000 + i));
  Client keeper(settings_for(server_->connect_string(), {{"zookeeper.lock.linger", "60000"}}));
  LockSet kept(keeper, "section", monitors);
  kept.lock_with_timeout();
  kept.unlock_or_throw();
  ASSERT_EQ(keeper.statistics().lingering, monitors.size());
  ASSERT_TRUE(client_.wait_connected(10s));
  const auto before = client_.statistics().requests;
  LockSet set(client_, "bulk", monitors);
  ASSERT_TRUE(set.try_lock_for(60s));
  const auto requests = client_.statistics().requests - before;
  RecordProperty("requests", std::to_string(requests));
  EXPECT_LT(requests, 4 * monitors.size()) << "a look at each queue, and little more";
  EXPECT_TRUE(set.healthy());
}

TEST_F(LockSetTest, AForegroundSetThatWaitsKeepsItsMembers) {
  BlockingWriteLock busy(other_, "busy", "b");
  busy.lock_with_timeout();
  LockSet set(client_, "save all", {"a", "b"});
  auto granted = std::async(std::launch::async, [&] { set.lock_with_timeout(); });
  ASSERT_TRUE(wait_until([&] { return set.waits_for() == "b"; }));
  BlockingWriteLock here(client_, "save", "a");
  EXPECT_FALSE(here.try_lock_for(300ms));
  busy.unlock();
  granted.get();
  EXPECT_TRUE(set.healthy());
}

TEST_F(LockSetTest, TheInspectorTellsWhatASetHoldsAndWaitsFor) {
  BlockingWriteLock busy(other_, "the busy one", "told-2");
  busy.lock_with_timeout();
  LockSet set(client_, "bulk", {"told-1", "told-2", "told-3"});
  auto granted = std::async(std::launch::async, [&] { set.lock_with_timeout(); });
  ASSERT_TRUE(wait_until([&] { return set.waits_for() == "told-2"; }));
  Inspector inspector(other_);
  std::optional<LockSetView> view;
  ASSERT_TRUE(wait_until([&] {
    view = inspector.lock_set(*inspector.show("told-1")->holder->owner);
    return view && view->waits_for && view->held.size() == 1;
  })) << "its node is in the queue, and told-3 is given back";
  EXPECT_EQ(view->size, 3u);
  EXPECT_THAT(view->members, ElementsAre("told-1", "told-2", "told-3"));
  EXPECT_THAT(view->held, ElementsAre("told-1"));
  EXPECT_EQ(view->waits_for, "told-2");
  ASSERT_TRUE(view->behind && view->behind->owner);
  EXPECT_EQ(view->behind->owner->lock_info, "the busy one");
  EXPECT_FALSE(inspector.lock_set(*view->behind->owner)) << "a single lock";
  busy.unlock();
  granted.get();
  view = inspector.lock_set(*inspector.show("told-3")->holder->owner);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->held.size(), 3u);
  EXPECT_EQ(view->waits_for, std::nullopt);
}

TEST_F(LockSetTest, AFailedAcquisitionHasGivenEverythingBack) {
  BlockingWriteLock busy(other_, "the busy one", "fail-3");
  busy.lock_with_timeout();
  LockSet set(client_, "bulk", {"fail-1", "fail-2", "fail-3", "fail-4"});
  EXPECT_FALSE(set.try_lock_for(200ms));
  EXPECT_EQ(set.state(), LockState::free);
  for (const char* monitor : {"fail-1", "fail-2", "fail-4"}) {
    BlockingWriteLock lock(other_, "single", monitor);
    EXPECT_TRUE(lock.try_lock()) << monitor;
  }
  EXPECT_TRUE(wait_until([] { return ephemeral_nodes(*server_).size() == 2; })) << "those of the busy one";
}

TEST_F(LockSetTest, TheErrorNamesTheMemberAndItsHolder) {
  BlockingWriteLock busy(other_, "the busy one", "named-2", Priority::background);
  busy.lock_with_timeout();
  Client hasty(settings_for(server_->connect_string(), {{"zookeeper.foregound.task.timeout", "300"}}));
  ASSERT_TRUE(hasty.wait_connected(10s));
  LockSet set(hasty, "bulk", {"named-1", "named-2"});
  try {
    set.lock_with_timeout();
    FAIL();
  } catch (const InstanceLockException& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::lock_timeout);
    EXPECT_EQ(problem.monitor(), "named-2");
    EXPECT_THAT(problem.what(), HasSubstr("the busy one"));
  }
}

TEST_F(LockSetTest, IsLostWithOneMemberAndKeepsTheOthersUntilItIsReleased) {
  LockSet set(client_, "bulk", {"lose-1", "lose-2", "lose-3"});
  std::promise<std::pair<LossReason, std::string>> lost;
  set.on_lost([&](LossReason reason, const std::string& monitor) { lost.set_value({reason, monitor}); });
  set.lock_with_timeout();
  const auto stop = set.stop_token();
  const std::string node = *Inspector(other_).show("lose-2")->holder->node;
  ASSERT_EQ(Inspector(other_).force_release("lose-2", node), ForceReleaseResult::released);
  auto news = lost.get_future();
  ASSERT_EQ(news.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(news.get(), std::pair(LossReason::removed, std::string("lose-2")));
  EXPECT_EQ(set.state(), LockState::lost);
  EXPECT_FALSE(set.healthy());
  EXPECT_THROW(set.check_health(), LockUnhealthyException);
  EXPECT_TRUE(wait_until([&] { return stop.stop_requested(); }));
  BlockingWriteLock first(other_, "single", "lose-1");
  EXPECT_FALSE(first.try_lock()) << "still held";
  try {
    set.unlock_or_throw();
    FAIL();
  } catch (const NoNodeException& problem) {
    EXPECT_EQ(problem.monitor(), "lose-2");
  }
  EXPECT_TRUE(first.try_lock());
}

// Long before its nodes are watched.
TEST_F(LockSetTest, AMemberThatIsTakenAwayWhileTheSetWaitsIsTakenAgainBeforeItIsHeld) {
  BlockingWriteLock busy(other_, "busy", "away-b");
  busy.lock_with_timeout();
  LockSet set(client_, "bulk", {"away-a", "away-b"});
  auto granted = std::async(std::launch::async, [&] { return set.try_lock_for(60s); });
  ASSERT_TRUE(wait_until([&] { return set.waits_for() == "away-b"; }));
  Inspector inspector(other_);
  BlockingWriteLock next(other_, "the next one", "away-a");
  auto next_granted = std::async(std::launch::async, [&] { return next.try_lock_for(60s); });
  ASSERT_TRUE(wait_until([&] { return inspector.show("away-a")->queue.size() == 1; }));
  ASSERT_EQ(inspector.force_release("away-a", *inspector.show("away-a")->holder->node), ForceReleaseResult::released);
  ASSERT_TRUE(next_granted.get());
  busy.unlock();
  EXPECT_TRUE(wait_until([&] { return set.waits_for() == "away-a" || set.owns_lock(); }));
  EXPECT_FALSE(set.owns_lock()) << "beside another holder";
  const auto token = next.fencing_token();
  next.unlock();
  ASSERT_TRUE(granted.get());
  EXPECT_TRUE(set.healthy());
  EXPECT_GT(set.fencing_token("away-a"), token);
}

TEST_F(LockSetTest, StepsAsideForWhomeverWaitsAtAnyMember) {
  LockSet set(client_, "bulk", {"aside-1", "aside-2", "aside-3"}, Priority::background);
  std::promise<std::string> contended;
  set.on_contended([&](Priority waiting, const std::string& monitor) {
    if (waiting == Priority::foreground) contended.set_value(monitor);
  });
  set.lock_with_timeout();
  const auto tokens = set.fencing_tokens();
  BlockingWriteLock urgent(other_, "urgent", "aside-3");
  auto granted = std::async(std::launch::async, [&] {
    urgent.lock_with_timeout();
    const auto token = urgent.fencing_token();
    urgent.unlock();
    return token;
  });
  EXPECT_EQ(contended.get_future().get(), "aside-3");
  EXPECT_TRUE(set.step_aside(30s));
  EXPECT_TRUE(set.healthy());
  const auto urgent_token = granted.get();
  EXPECT_GT(urgent_token, tokens[2].token);
  EXPECT_GT(set.fencing_token("aside-3"), urgent_token);
}

TEST_F(LockSetTest, WritesWhileAllMembersAreHeldOrNothing) {
  LockSet set(client_, "bulk", {"written-1", "written-2"});
  EXPECT_THROW(set.write_guarded({CreateNode{"/written", "0"}}), LockUnhealthyException);
  set.lock_with_timeout();
  set.write_guarded({CreateNode{"/written", "1"}});
  set.alive(1min);  // writes the nodes that a guarded write checks
  EXPECT_EQ(set.write_guarded({SetNode{"/written", "2", 0}}).at(0).version, 1);
  try {
    set.write_guarded({SetNode{"/written", "3", 0}});
    ADD_FAILURE() << "the version has changed since";
  } catch (const RequestRejectedException& error) {
    EXPECT_EQ(error.code(), ErrorCode::write_conflict);
  }
  EXPECT_TRUE(set.healthy());
  Inspector inspector(other_);
  for (const std::string& monitor : set.monitors()) {
    const auto holder = inspector.show(monitor)->holder;
    ASSERT_TRUE(holder->owner);
    EXPECT_EQ(holder->owner->expected_runtime, std::chrono::milliseconds(1min));
    EXPECT_TRUE(holder->owner->acquired_at);
    EXPECT_EQ(holder->token, set.fencing_token(monitor));
  }
  ASSERT_EQ(inspector.force_release("written-2", *inspector.show("written-2")->holder->node),
            ForceReleaseResult::released);
  try {
    set.write_guarded({SetNode{"/written", "4"}});
    ADD_FAILURE() << "a member is another's";
  } catch (const LockUnhealthyException& error) {
    EXPECT_EQ(error.monitor(), "written-2");
  }
  EXPECT_TRUE(wait_until([&] { return set.state() == LockState::lost; }));
  EXPECT_THROW(set.alive(1min), LockUnhealthyException);
}

class LockSetDangerTest : public LockSetTest, public ::testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(AskedForWhileItIsHeld, LockSetDangerTest, ::testing::Bool());

TEST_P(LockSetDangerTest, IsWarnedOnceWhenTheConnectionIsSilent) {
  TcpProxy proxy(server_->port());
  Client client(settings_for(proxy.connect_string()));
  LockSet set(client, "bulk", {"danger-1", "danger-2", "danger-3"});
  EXPECT_THROW(set.on_danger(0ms, [] {}), RequestRejectedException);
  EXPECT_THROW(set.on_danger(1h, [] {}), RequestRejectedException);
  std::atomic<int> warnings = 0;
  std::promise<bool> healthy_when_warned;
  if (GetParam()) set.lock_with_timeout();
  set.on_danger(1s, [&] {
    if (++warnings == 1) healthy_when_warned.set_value(set.healthy());
  });
  std::promise<LossReason> lost;
  set.on_lost([&](LossReason reason, const std::string&) { lost.set_value(reason); });
  if (!GetParam()) set.lock_with_timeout();
  proxy.stall(true);
  auto warned = healthy_when_warned.get_future();
  ASSERT_EQ(warned.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(warned.get());
  auto reason = lost.get_future();
  ASSERT_EQ(reason.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(reason.get(), LossReason::deadline_passed);
  EXPECT_EQ(warnings, 1);
  proxy.stall(false);
}

TEST_F(LockSetTest, ItsRecordIsKnownAsItIsWritten) {
  LockSet set(client_, "bulk", {"b", "a"}, Priority::background);
  EXPECT_EQ(set.owner().set_size, 2u);
  set.lock_with_timeout();
  const OwnerRecord own = set.owner();
  const auto written = Inspector(other_).show("a")->holder->owner;
  ASSERT_TRUE(written);
  EXPECT_EQ(own.set, written->set);
  EXPECT_EQ(own.instance, written->instance);
  EXPECT_EQ(own.lock_info, "bulk");
  EXPECT_EQ(own.priority, Priority::background);
  EXPECT_THAT(own.set_members, ElementsAre("a", "b"));
}

TEST_F(LockSetTest, ItsPlaceInTheQueueIsTold) {
  BlockingWriteLock holder(other_, "holder", "queued-b");
  holder.lock_with_timeout();
  LockSet set(client_, "bulk", {"queued-a", "queued-b"});
  std::promise<std::pair<std::size_t, std::string>> told;
  set.on_queued([&, said = false](const QueuePosition& position, const std::string& monitor) mutable {
    if (!std::exchange(said, true)) told.set_value({position.place, monitor});
  });
  std::promise<void> ended;
  set.acquire([&](std::exception_ptr) { ended.set_value(); });
  auto place = told.get_future();
  ASSERT_EQ(place.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(place.get(), (std::pair<std::size_t, std::string>{1, "queued-b"}));
  holder.unlock_or_throw();
  ASSERT_EQ(ended.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(set.healthy());
  EXPECT_FALSE(BlockingWriteLock(other_, "holder", "queued-b").try_lock_for(1500us));
}

TEST_F(LockSetTest, ADurationOfAnyUnitIsATimeOut) {
  BlockingWriteLock holder(other_, "holder", "unit");
  holder.lock_with_timeout();
  LockSet set(client_, "bulk", {"unit"});
  EXPECT_FALSE(set.try_lock_for(1500us));
  EXPECT_FALSE(set.try_lock_for(std::chrono::duration<double>(0.002)));
  EXPECT_FALSE(set.try_lock_until(std::chrono::system_clock::now() + 2ms));
  EXPECT_FALSE(set.try_lock_until(std::chrono::steady_clock::now() - 1h));
  holder.unlock_or_throw();
  EXPECT_TRUE(set.try_lock_for(std::chrono::hours::max()));
}

TEST_F(LockSetTest, IsTakenAndReleasedWithoutBlocking) {
  LockSet set(client_, "bulk", {"async-1", "async-2"});
  std::promise<std::exception_ptr> acquired;
  set.acquire([&](std::exception_ptr error) { acquired.set_value(error); });
  EXPECT_EQ(acquired.get_future().get(), nullptr);
  EXPECT_TRUE(set.healthy());
  LockSet second(other_, "bulk", {"async-2", "async-3"});
  std::promise<std::exception_ptr> cancelled;
  second.acquire([&](std::exception_ptr error) { cancelled.set_value(error); });
  ASSERT_TRUE(wait_until([&] { return second.waits_for() == "async-2"; }));
  EXPECT_TRUE(second.cancel());
  EXPECT_THROW(std::rethrow_exception(cancelled.get_future().get()), InstanceLockException);
  std::promise<std::exception_ptr> released;
  set.release([&](std::exception_ptr error) { released.set_value(error); });
  EXPECT_EQ(released.get_future().get(), nullptr);
  EXPECT_TRUE(wait_until([] { return ephemeral_nodes(*server_).empty(); })) << "the place of the cancelled one, too";
}

// Named in any order, by threads of several processes' sessions: everybody gets through, one at a time.
// Whoever releases must hear of it, although another thread takes the set the moment that it can be had.
TEST_F(LockSetTest, OneObjectIsUsedByManyThreadsInTurn) {
  LockSet set(client_, "bulk", {"shared-a", "shared-b"});
  const auto use = [&] {
    for (int held = 0; held < 100;) {
      try {
        set.lock_with_timeout();
      } catch (const RequestRejectedException&) {
        continue;  // another thread has it
      }
      ASSERT_NO_THROW(set.unlock_or_throw());
      ++held;
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(use);
}

TEST_F(LockSetTest, OverlappingSetsExcludeEachOtherAndDoNotDeadlock) {
  constexpr std::size_t monitors = 8;
  constexpr int rounds = 12;
  std::array<std::atomic<int>, monitors> holders{};
  std::atomic<int> overlaps{0};
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(std::make_unique<Client>(settings()));
  std::vector<std::future<void>> threads;
  for (unsigned thread = 0; thread < 9; ++thread) {
    threads.push_back(std::async(std::launch::async, [&, thread] {
      std::mt19937 random(thread);
      for (int round = 0; round < rounds * length(); ++round) {
        std::vector<std::size_t> members(monitors);
        for (std::size_t i = 0; i < monitors; ++i) members[i] = i;
        std::shuffle(members.begin(), members.end(), random);
        members.resize(2 + random() % 4);
        std::vector<std::string> names;
        for (const std::size_t member : members) names.push_back("overlap-" + std::to_string(member));
        LockSet set(*clients[thread % clients.size()], "bulk", names,
                    random() % 2 == 0 ? Priority::foreground : Priority::background);
        set.lock_with_timeout();
        for (const std::size_t member : members) overlaps += holders[member]++;
        std::this_thread::yield();
        for (const std::size_t member : members) --holders[member];
        set.unlock();
      }
    }));
  }
  for (auto& thread : threads) EXPECT_NO_THROW(thread.get());
  EXPECT_EQ(overlaps, 0);
  EXPECT_THAT(ephemeral_nodes(*server_), IsEmpty());
}

}  // namespace
}  // namespace forelock::test
