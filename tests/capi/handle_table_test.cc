#include "capi/handle_table.h"
#include "support/test.h"

#include <sys/wait.h>
#include <unistd.h>

namespace forelock::capi {
namespace {

class Counted final : public Object {
 public:
  explicit Counted(std::atomic<int>& alive, Kind kind = Kind::lock) : Object(kind), alive_(alive) { ++alive_; }
  ~Counted() override {
    --alive_;
    alive_flag_ = 0;
  }
  int flag() const { return alive_flag_; }

 private:
  std::atomic<int>& alive_;
  int alive_flag_ = 4711;
};

TEST(HandleTable, AHandleStandsForItsObjectUntilItIsRemoved) {
  std::atomic<int> alive{0};
  HandleTable table;
  const Handle handle = table.add(std::make_unique<Counted>(alive));
  EXPECT_NE(handle, 0u);
  EXPECT_TRUE(table.find(handle));
  EXPECT_TRUE(table.remove(handle));
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(table.find(handle));
  EXPECT_FALSE(table.remove(handle));
  EXPECT_EQ(table.size(), 0u);
}

TEST(HandleTable, AnObjectLivesAsLongAsItsUses) {
  std::atomic<int> alive{0};
  HandleTable table;
  const Handle handle = table.add(std::make_unique<Counted>(alive));
  {
    const auto use = table.find(handle);
    EXPECT_TRUE(table.remove(handle));
    EXPECT_EQ(alive, 1);
    EXPECT_FALSE(table.find(handle));
    EXPECT_EQ(static_cast<Counted&>(use.object()).flag(), 4711);
  }
  EXPECT_EQ(alive, 0);
}

TEST(HandleTable, AChildThatIsForkedMeanwhileCanUseIt) {
  std::atomic<int> alive{0};
  std::atomic<bool> over{false};
  const auto use = [&] {
    HandleTable& table = HandleTable::instance();
    table.remove(table.add(std::make_unique<Counted>(alive)));
  };
  std::thread user([&] {
    while (!over) use();
  });
  int status = 0;
  for (int i = 0; i < 300 && status == 0; ++i) {
    // The child neither allocates nor frees: with a sanitizer's allocator it must not.
    auto object = std::make_unique<Counted>(alive);
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      HandleTable& table = HandleTable::instance();
      const auto removed = table.remove(table.add(std::move(object)));
      _exit(removed ? 0 : 1);
    }
    ASSERT_EQ(waitpid(child, &status, 0), child);
  }
  over = true;
  user.join();
  EXPECT_EQ(status, 0) << "a child's call did not end";
}

TEST(HandleTable, ASlotIsUsedAgainUnderAnotherHandle) {
  std::atomic<int> alive{0};
  HandleTable table;
  const Handle first = table.add(std::make_unique<Counted>(alive));
  EXPECT_TRUE(table.remove(first));
  const Handle second = table.add(std::make_unique<Counted>(alive));
  EXPECT_EQ(first & 0xFFFFFF, second & 0xFFFFFF);
  EXPECT_NE(first, second);
  EXPECT_FALSE(table.find(first));
  EXPECT_TRUE(table.find(second));
}

TEST(HandleTable, AnotherKindOrGenerationIsInvalid) {
  std::atomic<int> alive{0};
  HandleTable table;
  const Handle handle = table.add(std::make_unique<Counted>(alive, Kind::lock));
  for (int bit = 0; bit < 64; ++bit) EXPECT_FALSE(table.find(handle ^ (Handle{1} << bit))) << bit;
  EXPECT_TRUE(table.find(handle));
}

TEST(HandleTable, IsBounded) {
  std::atomic<int> alive{0};
  HandleTable table(3);
  std::vector<Handle> handles;
  for (int i = 0; i < 3; ++i) handles.push_back(table.add(std::make_unique<Counted>(alive)));
  EXPECT_EQ(table.add(std::make_unique<Counted>(alive)), 0u);
  EXPECT_EQ(alive, 3);
  EXPECT_TRUE(table.remove(handles[1]));
  EXPECT_NE(table.add(std::make_unique<Counted>(alive)), 0u);
}

// Threads find and remove each other's handles: every object is destroyed exactly once, and never under a use.
TEST(HandleTable, ThreadsMayFindAndRemoveTheSameHandles) {
  std::atomic<int> alive{0};
  std::atomic<int> removed{0};
  constexpr int threads = 4;
  constexpr int rounds = 20'000;
  HandleTable table;
  std::vector<std::atomic<Handle>> shared(16);
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        auto& place = shared[static_cast<std::size_t>(i * 7 + t) % shared.size()];
        place = table.add(std::make_unique<Counted>(alive));
        const Handle other = shared[static_cast<std::size_t>(i * 5 + t * 3) % shared.size()];
        if (const auto use = table.find(other)) {
          if (static_cast<Counted&>(use.object()).flag() != 4711) ADD_FAILURE() << "destroyed under a use";
        }
        if (table.remove(other)) ++removed;
      }
    });
  }
  for (std::thread& thread : team) thread.join();
  EXPECT_EQ(alive, threads * rounds - removed);
  EXPECT_EQ(table.size(), static_cast<std::size_t>(alive));
}

}  // namespace
}  // namespace forelock::capi
