// The stand-ins as the self-contained libraries have them: with the C++ runtime and its unwinder inside.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" std::uint32_t arc4random() noexcept;

namespace {

using FindObject = int (*)(void*, dl_find_object*);

// That of the system; ours is hidden.
FindObject of_system() {
  return reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

void expect_same(void* address) {
  dl_find_object ours{};
  dl_find_object theirs{};
  ASSERT_EQ(_dl_find_object(address, &ours), 0);
  ASSERT_EQ(of_system()(address, &theirs), 0);
  EXPECT_EQ(ours.dlfo_eh_frame, theirs.dlfo_eh_frame);
  EXPECT_NE(ours.dlfo_eh_frame, nullptr);
  EXPECT_LE(ours.dlfo_map_start, address);
  EXPECT_GT(ours.dlfo_map_end, address);
}

class OlderGlibc : public testing::Test {
 protected:
  void SetUp() override {
    if (of_system() == nullptr) GTEST_SKIP() << "the C library here is one of the older ones";
    ASSERT_NE(of_system(), &_dl_find_object);
  }
};

TEST_F(OlderGlibc, FindsWhatTheSystemFinds) {
  expect_same(reinterpret_cast<void*>(&expect_same));
  expect_same(dlsym(RTLD_DEFAULT, "qsort"));
  expect_same(dlsym(RTLD_DEFAULT, "dl_iterate_phdr"));
}

TEST_F(OlderGlibc, KnowsNothingOfOtherMemory) {
  int on_the_stack = 0;
  dl_find_object found{};
  EXPECT_EQ(_dl_find_object(&on_the_stack, &found), -1);
  EXPECT_EQ(_dl_find_object(nullptr, &found), -1);
  EXPECT_EQ(_dl_find_object(reinterpret_cast<void*>(UINTPTR_MAX), &found), -1);
}

[[noreturn]] int compare(const void*, const void*) {
  throw std::runtime_error("thrown in a callback of the C library");
}

// Through frames of this program and of the C library, from several threads at once.
TEST(OlderGlibcUnwinder, ExceptionsFindTheirHandlers) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int round = 0; round < 1000; ++round) {
        int numbers[2] = {2, 1};
        EXPECT_THROW(std::qsort(numbers, 2, sizeof(int), compare), std::runtime_error);
        EXPECT_THROW(static_cast<void>(std::string().at(1)), std::out_of_range);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(OlderGlibcRandomNumbers, Differ) {
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 1000; ++i) numbers.insert(arc4random());
  EXPECT_GE(numbers.size(), 990U);
  std::random_device device;
  EXPECT_NE((std::uint64_t{device()} << 32) | device(), (std::uint64_t{device()} << 32) | device());
}

}  // namespace
