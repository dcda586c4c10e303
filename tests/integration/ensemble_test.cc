// Three servers, of which some die, stand still, or are restarted, while several clients lock and unlock.
#include "integration/fenced_resource.h"
#include "integration/fixture.h"
#include "integration/load.h"
#include "support/test.h"
#include "support/test_ensemble.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

// What is added to a call's own time by a machine that has better things to do.
constexpr auto slack = 2s;

class EnsembleTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ensemble_ = new TestEnsemble(quick_server()); }
  static void TearDownTestSuite() {
    delete ensemble_;
    ensemble_ = nullptr;
  }

  void SetUp() override {
    monitor_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    for (std::size_t i = 0; i < TestEnsemble::size; ++i) {
      if (!ensemble_->server(i).running()) ensemble_->server(i).restart(false);
    }
    ASSERT_TRUE(ensemble_->wait_until_serving());
  }

  // Two clients of each class and watch mode; the first one knows only the server of this index.
  void start_load(std::size_t pinned) {
    for (int i = 0; i < 4; ++i) {
      loads_.push_back(std::async(std::launch::async, [this, i, pinned] {
        const std::string servers = i == 0 ? ensemble_->server(pinned).connect_string() : ensemble_->connect_string();
        Client client(settings_for(servers, {{"zookeeper.session.timeout", std::to_string(session_timeout.count())},
                                             {"zookeeper.foregound.task.timeout", "6000"},
                                             {"zookeeper.backgound.task.timeout", "6000"},
                                             {"zookeeper.lock.watch", i % 2 ? "predecessor" : "parent"}}));
        LoadOptions options;
        options.monitor = monitor_;
        options.priority = i < 2 ? Priority::foreground : Priority::background;
        options.hold = 2ms;
        options.resource = resource_.socket();
        options.who = std::string(name_of(options.priority)) + std::to_string(i);
        options.async = i == 3;
        const LoadResult result = run_load(client, options, stop_.get_token());
        // Whatever could not be removed while there was no connection is removed now.
        EXPECT_TRUE(wait_until([&] { return client.statistics().contenders == 0; }, 30s)) << options.who;
        return result;
      }));
    }
    expect_progress();
  }
  // That sections are entered again; says how long it took.
  void expect_progress() {
    const auto begun = steady_clock::now();
    const auto before = resource_.entered();
    EXPECT_TRUE(wait_until([&] { return resource_.entered() >= before + 50; }, 60s)) << "no progress";
    std::cout << "50 sections after "
              << std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begun).count() << " ms\n";
  }
  void let_pass(std::chrono::milliseconds time) {
    const auto until = steady_clock::now() + time;
    wait_until([&] { return steady_clock::now() >= until; }, time + 1s);
  }
  void finish() {
    ASSERT_TRUE(ensemble_->wait_until_serving());
    expect_progress();
    stop_.request_stop();
    LoadResult total;
    for (auto& load : loads_) {
      ASSERT_EQ(load.wait_for(60s), std::future_status::ready) << "a call does not return";
      total.add(load.get());
    }
    std::cout << total << "\n";
    EXPECT_THAT(resource_.overlaps(), ::testing::IsEmpty());
    EXPECT_EQ(total.stale, 0);
    EXPECT_LE(total.late, slack);
    EXPECT_LE(total.unlock, session_timeout + slack);
    EXPECT_TRUE(wait_until_unused(ensemble_->server(ensemble_->leader()), monitor_, 30s));
  }

  static constexpr std::chrono::milliseconds session_timeout{3000};
  static TestEnsemble* ensemble_;
  std::string monitor_;
  FencedResource resource_;
  std::stop_source stop_;
  std::vector<std::future<LoadResult>> loads_;
};

TestEnsemble* EnsembleTest::ensemble_ = nullptr;

TEST_F(EnsembleTest, LeaderKilled) {
  const std::size_t leader = ensemble_->leader();
  start_load(leader);
  ensemble_->server(leader).kill();
  expect_progress();
  ensemble_->server(leader).restart(false);
  finish();
}

TEST_F(EnsembleTest, FollowerOfAClientKilled) {
  const std::size_t follower = ensemble_->follower();
  start_load(follower);
  ensemble_->server(follower).kill();
  expect_progress();
  ensemble_->server(follower).restart(false);
  finish();
}

TEST_F(EnsembleTest, RollingRestart) {
  start_load(0);
  for (std::size_t i = 0; i < TestEnsemble::size; ++i) {
    ensemble_->server(i).restart(false);
    ASSERT_TRUE(ensemble_->wait_until_serving());
  }
  finish();
}

TEST_F(EnsembleTest, LeaderStandsStill) {
  const std::size_t leader = ensemble_->leader();
  start_load((leader + 1) % TestEnsemble::size);
  ensemble_->server(leader).pause();
  let_pass(session_timeout + 2s);
  expect_progress();
  ensemble_->server(leader).resume();
  finish();
}

TEST_F(EnsembleTest, FollowerStandsStill) {
  const std::size_t follower = ensemble_->follower();
  start_load(follower);
  ensemble_->server(follower).pause();
  let_pass(session_timeout + 1s);
  expect_progress();
  ensemble_->server(follower).resume();
  finish();
}

TEST_F(EnsembleTest, MajorityLostAndRegained) {
  const std::size_t leader = ensemble_->leader();
  const std::size_t other = (leader + 1) % TestEnsemble::size;
  start_load((leader + 2) % TestEnsemble::size);
  ensemble_->server(leader).kill();
  ensemble_->server(other).kill();
  const auto at_the_time = resource_.entered();
  let_pass(session_timeout + 2s);
  EXPECT_LE(resource_.entered(), at_the_time + 1) << "a lock was granted without a majority";
  ensemble_->server(leader).restart(false);
  ensemble_->server(other).restart(false);
  finish();
}

}  // namespace
}  // namespace forelock::test
