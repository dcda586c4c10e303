// What the engine concludes from what it finds on the server after a lost reply.
#include <algorithm>

#include "engine_fixture.h"

namespace forelock::lock {
namespace {

using namespace coordination;

using EngineResolveTest = EngineTest;

// How many of these would make a node of the contender with this guid.
std::ptrdiff_t creates_of(const std::deque<Sent>& sent, const std::string& guid) {
  const auto makes_node = [&](const auto& operation) {
    const auto* create = std::get_if<Create>(&operation);
    return create != nullptr && create->data == guid && create->mode == CreateMode::ephemeral_sequential;
  };
  return std::count_if(sent.begin(), sent.end(), [&](const Sent& one) {
    const auto* transaction = std::get_if<Transaction>(&one.request);
    if (transaction == nullptr) return makes_node(one.request);
    return std::any_of(transaction->operations.begin(), transaction->operations.end(), makes_node);
  });
}

// The lock is removed first, and the contender begins when that is answered: if it began before as well, it would have
// two nodes (fuzzing).
TEST_F(EngineResolveTest, WhoIsNamedByALockWithoutANodeBeginsOnce) {
  acquire(1, Priority::foreground);
  answer<Create>({});
  answer<Transaction>(failure(ReplyCode::connection_loss));
  answer<Exists>({});
  now_ = engine_.next_timer();
  engine_.tick(now_);
  acquire(2, Priority::foreground);
  answer<Sync>({});
  answer<List>({});
  answer<Get>(node("guid2", our_session));
  EXPECT_EQ(answer<Delete>({}).path, "/P/privateLock");
  EXPECT_EQ(creates_of(output_.sent, "guid2"), 1);
}

}  // namespace
}  // namespace forelock::lock
