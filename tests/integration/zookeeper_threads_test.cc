// What other threads of ours do while the C client's I/O thread is at work.
#include <dlfcn.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "support/session_killer.h"
#include "zookeeper_fixture.h"

namespace {

// What the C client asks for each operation of a transaction. `stalled_at`: at which question of this thread it stalls,
// as one does that the system does not let run, until the session has ended or a second has passed.
thread_local int questions = 0;
thread_local int stalled_at = 0;
std::atomic<bool> stalled{false};

// The thread that gave the C client other servers, and the one that is held up where it closes its socket.
std::atomic<pid_t> gave_servers{0};
std::atomic<pid_t> held_up{0};
std::atomic<bool> closing{false};
std::atomic<bool> goes_on{false};

}  // namespace

#ifdef FORELOCK_TLS
// The C client is linked statically: its own question is answered here (tests/integration/CMakeLists.txt).
static int real_is_unrecoverable(zhandle_t* handle) {
  return zoo_state(handle) < 0 ? ZINVALIDSTATE : ZOK;
}
extern "C" int __real_zoo_set_servers(zhandle_t* handle, const char* servers);
#define zoo_set_servers __wrap_zoo_set_servers
static int real_zoo_set_servers(zhandle_t* handle, const char* servers) {
  return __real_zoo_set_servers(handle, servers);
}
#else
static int real_is_unrecoverable(zhandle_t* handle) {
  static auto* const real = reinterpret_cast<int (*)(zhandle_t*)>(dlsym(RTLD_NEXT, "is_unrecoverable"));
  return real(handle);
}
static int real_zoo_set_servers(zhandle_t* handle, const char* servers) {
  static auto* const real = reinterpret_cast<int (*)(zhandle_t*, const char*)>(dlsym(RTLD_NEXT, "zoo_set_servers"));
  return real(handle, servers);
}
#endif

extern "C" __attribute__((visibility("default"))) int is_unrecoverable(zhandle_t* handle) {
  if (++questions == stalled_at) {
    stalled = true;
    forelock::test::wait_until([&] { return real_is_unrecoverable(handle) != ZOK; }, std::chrono::seconds(1));
  }
  return real_is_unrecoverable(handle);
}

extern "C" __attribute__((visibility("default"))) int zoo_set_servers(zhandle_t* handle, const char* servers) {
  gave_servers = gettid();
  return real_zoo_set_servers(handle, servers);
}

extern "C" __attribute__((visibility("default"))) int close(int descriptor) {
  static auto* const real = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "close"));
  if (held_up != 0 && held_up == gettid()) {
    closing = true;
    forelock::test::wait_until([] { return goes_on.load(); });
    held_up = 0;
  }
  return real(descriptor);
}

namespace forelock::zookeeper {
namespace {

using namespace coordination;
using Kind = SessionEvent::Kind;

// With an ended session the C client's zoo_amulti frees memory that is not its own.
TEST_F(ZooKeeperTest, ASubmissionThatStallsDoesNotMeetTheEndOfItsSession) {
  auto connection = connect();
  stalled = false;
  RequestTag tag = 0;
  std::thread sender([&] {
    questions = 0;
    stalled_at = 2;
    Transaction transaction;
    for (const char* name : {"a", "b", "c", "d"}) {
      transaction.operations.emplace_back(Create{own(name), "", CreateMode::ephemeral});
    }
    tag = connection->send(std::move(transaction));
  });
  const bool stalls = test::wait_until([&] { return stalled.load(); });
  EXPECT_TRUE(test::end_session("127.0.0.1", server().port(), connection->recorder.session_events().at(0).session));
  proxy_.cut_connections();
  sender.join();
  ASSERT_TRUE(stalls) << "the C client does not ask any more; this test says nothing";
  const ReplyCode code = connection->wait(tag).code;
  EXPECT_TRUE(code == ReplyCode::connection_loss || code == ReplyCode::session_expired) << name_of(code);
  EXPECT_TRUE(connection->wait_for(Kind::expired));
  EXPECT_EQ(connection->ask(Exists{"/"}).code, ReplyCode::session_expired);
}

// The handle says that it is connected until the I/O thread has closed its socket, and the end of the session may be
// next.
TEST_F(ZooKeeperTest, NothingIsSentOverAConnectionThatIsBeingGivenUp) {
  SessionOptions settings = options();
  settings.log = [](std::string_view) { held_up = gettid(); };
  auto connection = connect(settings);
  goes_on = closing = false;
  proxy_.cut_connections();
  ASSERT_TRUE(test::wait_until([] { return closing.load(); }));
  questions = 0;
  const RequestTag tag = connection->send(Transaction{{Check{"/"}, Check{"/"}}});
  EXPECT_EQ(questions, 0) << "the C client was given it";
  goes_on = true;
  EXPECT_EQ(connection->wait(tag).code, ReplyCode::connection_loss);
  EXPECT_TRUE(connection->wait_for(Kind::connected, 2));
}

// It reads the addresses without a lock, and closes its socket: only it may change them.
TEST_F(ZooKeeperTest, TheIoThreadItselfTakesNewServers) {
  test::TcpProxy moved(server().port(), "127.0.0.2");
  std::atomic<bool> has_moved{false};
  SessionOptions settings = options();
  settings.servers = "old:" + std::to_string(proxy_.port()) + ",new:" + std::to_string(moved.port());
  settings.resolver = [&](const std::string& host) {
    if ((host == "new") != has_moved) return HostAddresses{{}, "not known"};
    return HostAddresses{{has_moved ? "127.0.0.2" : "127.0.0.1"}, ""};
  };
  auto connection = connect(settings);
  proxy_.refuse(true);
  proxy_.cut_connections();
  ASSERT_TRUE(connection->wait_for(Kind::disconnected));
  has_moved = true;
  gave_servers = 0;
  EXPECT_EQ(connection->session.refresh_servers(), RefreshResult::deferred);
  ASSERT_TRUE(connection->wait_for(Kind::connected, 2));
  EXPECT_EQ(moved.connections_accepted(), 1);
  EXPECT_NE(gave_servers, 0);
  EXPECT_NE(gave_servers, gettid());
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
}

}  // namespace
}  // namespace forelock::zookeeper
