// Who forwards an outbox, and for how long.
#include <sys/wait.h>
#include <unistd.h>

#include "forward/forwarder_lock.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::forward {
namespace {

class ForwarderLockTest : public ::testing::Test {
 protected:
  std::filesystem::path outbox() const { return directory_.path() / "outbox.db"; }

  test::TemporaryDirectory directory_;
};

TEST_F(ForwarderLockTest, OneHasItUntilItsEnd) {
  std::optional<ForwarderLock> first(outbox());
  ForwarderLock second(outbox());
  EXPECT_TRUE(first->try_acquire());
  EXPECT_FALSE(second.try_acquire());
  first.reset();
  EXPECT_TRUE(second.try_acquire());
}

TEST_F(ForwarderLockTest, AChildOfForkNeitherKeepsNorFreesIt) {
  int pipe_ends[2] = {};
  ASSERT_EQ(pipe(pipe_ends), 0);
  std::optional<ForwarderLock> first(outbox());
  ForwarderLock second(outbox());
  ASSERT_TRUE(first->try_acquire());
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    ::close(pipe_ends[1]);
    const bool told = read(pipe_ends[0], &byte, 1) == 1;
    first.reset();
    const bool parted = told && read(pipe_ends[0], &byte, 1) == 0;  // lives until the parent has looked
    _exit(parted ? 0 : 1);
  }
  ::close(pipe_ends[0]);
  EXPECT_FALSE(second.try_acquire());
  EXPECT_EQ(write(pipe_ends[1], "x", 1), 1);
  EXPECT_FALSE(second.try_acquire());
  first.reset();
  EXPECT_TRUE(second.try_acquire());
  ::close(pipe_ends[1]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// The lock of a process that dies is free, whoever it has left behind.
TEST_F(ForwarderLockTest, AProcessThatDiesFreesItAlsoWithAChildBehind) {
  int pipe_ends[2] = {};
  ASSERT_EQ(pipe(pipe_ends), 0);
  ForwarderLock lock(outbox());
  const pid_t process = fork();
  if (process == 0) {
    ForwarderLock theirs(outbox());
    const bool acquired = theirs.try_acquire();
    if (fork() == 0) {
      char byte = 0;
      ::close(pipe_ends[1]);
      _exit(read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    _exit(acquired ? 0 : 1);
  }
  int status = -1;
  waitpid(process, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(test::wait_until([&] { return lock.try_acquire(); }));
  ::close(pipe_ends[1]);
  ::close(pipe_ends[0]);
}

}  // namespace
}  // namespace forelock::forward
