#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

TEST(OlderConditionVariable, WaitsAndIsWoken) {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  constexpr int rounds = 10000;
  const auto play = [&](int mine) {
    std::unique_lock guard(mutex);
    for (int round = 0; round < rounds; ++round) {
      while (turn % 2 != mine) changed.wait(guard);
      EXPECT_TRUE(guard.owns_lock());
      ++turn;
      changed.notify_one();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn, 2 * rounds);
}

}  // namespace
