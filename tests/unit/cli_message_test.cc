#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "cli/output/message_writer.h"
#include "support/test.h"

namespace {

// How late a new thread begins, in milliseconds, as on a machine without a processor to spare.
std::atomic<int> begins_late{0};

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* begin(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  poll(nullptr, 0, begins_late);
  return start->routine(start->argument);
}

}  // namespace

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

// What std::thread calls.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                              void* argument) noexcept {
  using Function = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const real = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "pthread_create"));
  auto start = std::make_unique<Start>(Start{routine, argument});
  const int result = real(thread, attributes, begin, start.get());
  if (result == 0) static_cast<void>(start.release());  // it is the thread's now
  return result;
}

#endif

namespace forelock::cli {
namespace {

class MessageWriterTest : public ::testing::Test {
 protected:
  MessageWriterTest() { EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~MessageWriterTest() override {
    begins_late = 0;
    close(ends_[0]);
    close(ends_[1]);
  }

  // What can be read without waiting.
  std::string taken() {
    std::string all;
    std::array<char, 65536> buffer;
    for (pollfd polled{ends_[0], POLLIN, 0}; poll(&polled, 1, 0) == 1;) {
      const ssize_t count = read(ends_[0], buffer.data(), buffer.size());
      if (count <= 0) break;
      all.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return all;
  }
  void fill() {
    ASSERT_EQ(fcntl(ends_[1], F_SETFL, O_NONBLOCK), 0);
    while (write(ends_[1], "x", 1) == 1) {
    }
    ASSERT_EQ(fcntl(ends_[1], F_SETFL, 0), 0);
  }

  std::array<int, 2> ends_{-1, -1};
};

// Only the time within a write is the reader's: the process may end after this call.
TEST_F(MessageWriterTest, WhatAThreadWritesThatBeginsLateIsNotLost) {
  begins_late = 4 * static_cast<int>(MessageWriter::longest_wait.count());
  MessageWriter writer(ends_[1]);
  writer.write("a message\n");
  EXPECT_EQ(taken(), "a message\n");
}

TEST_F(MessageWriterTest, AReaderThatReadsAgainGetsEverything) {
  fill();
  MessageWriter writer(ends_[1]);
  writer.write("a message\n");
  std::string all = taken();
  writer.flush();
  all += taken();
  EXPECT_EQ(all.substr(all.find_first_not_of('x')), "a message\n");
}

}  // namespace
}  // namespace forelock::cli
