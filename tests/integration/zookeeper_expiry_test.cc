// The end of a session while a request is on its way into the C client.
#include <dlfcn.h>
#include <zookeeper/zookeeper.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/session_killer.h"
#include "zookeeper_fixture.h"

namespace {

// What the C client asks for each operation of a transaction. `stalled_at`: at which question of this thread it stalls,
// as one does that the system does not let run, until the session has ended or a second has passed.
thread_local int questions = 0;
thread_local int stalled_at = 0;
std::atomic<bool> stalled{false};

}  // namespace

extern "C" __attribute__((visibility("default"))) int is_unrecoverable(zhandle_t* handle) {
  static auto* const real = reinterpret_cast<int (*)(zhandle_t*)>(dlsym(RTLD_NEXT, "is_unrecoverable"));
  if (stalled_at > 0 && ++questions == stalled_at) {
    stalled = true;
    forelock::test::wait_until([&] { return real(handle) != ZOK; }, std::chrono::seconds(1));
  }
  return real(handle);
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

}  // namespace
}  // namespace forelock::zookeeper
