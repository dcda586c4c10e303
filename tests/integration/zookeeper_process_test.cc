// The adapter inside a process that forks and executes.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "zookeeper/descriptor_flags.h"
#include "zookeeper_fixture.h"

namespace forelock::zookeeper {
namespace {

using namespace coordination;
using Kind = SessionEvent::Kind;

// Runs in the child; gtest must not be used there.
int use_session_in_child(Connection& connection) {
  alarm(20);  // a hang ends the child with a signal
  const RequestTag tag = 4711;
  connection.session.submit(tag, Exists{"/"});
  const auto reply = connection.recorder.reply(tag);
  if (!reply) return 1;
  if (reply->code != ReplyCode::session_expired) return 2;
  if (connection.session.refresh_servers() != RefreshResult::failed) return 3;
  connection.session.close();
  connection.session.close();
  return 0;
}

TEST_F(ZooKeeperTest, AForkedChildGetsErrorsAndLeavesTheSessionAlone) {
  auto connection = connect();
  ASSERT_TRUE(connection->ask(Create{own("mine"), "", CreateMode::ephemeral}).ok());
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const int result = use_session_in_child(*connection);
      if (result == 0) connection.reset();  // the destructor, too
      _exit(result);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_TRUE(connection->ask(Exists{own("mine")}).ok());
  }
  EXPECT_EQ(connection->recorder.count(Kind::disconnected), 0u);
}

TEST_F(ZooKeeperTest, AForkedChildCanHaveASessionOfItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread checker permits no threads in a forked child";
#endif
  auto connection = connect();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    SessionOptions settings = options();
    settings.servers = server().connect_string();  // the proxy's thread is the parent's
    auto own_session = std::make_unique<Connection>(settings);
    own_session->session.start();
    if (!own_session->wait_for(Kind::connected)) _exit(1);
    if (!own_session->ask(Exists{"/"}).ok()) _exit(2);
    own_session.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
}

TEST_F(ZooKeeperTest, NoDescriptorIsInheritedByExecutedPrograms) {
  const std::vector<int> before = open_descriptors();
  auto connection = connect();
  for (std::size_t round = 2; round < 4; ++round) {
    int fresh = 0;
    for (const int descriptor : open_descriptors()) {
      if (std::binary_search(before.begin(), before.end(), descriptor)) continue;
      ++fresh;
      EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0) << "descriptor " << descriptor;
    }
    EXPECT_GE(fresh, 3) << "a pipe and a socket";
    proxy_.cut_connections();
    ASSERT_TRUE(connection->wait_for(Kind::connected, round));
  }
}

}  // namespace
}  // namespace forelock::zookeeper
