// What every client can rely on, whatever is asked and whichever server answers.
#include "model/ensemble.h"
#include "model/model_session.h"
#include "model_listener.h"
#include "support/test.h"

namespace forelock::model {
namespace {

using namespace coordination;

Request some_request(Random& random) {
  const std::string path = "/" + std::string(1, "PQ"[random.below(2)]);
  const std::string child = path + "/" + std::string(1, "abc"[random.below(3)]);
  switch (random.below(8)) {
    case 0:
      return Create{path, "", CreateMode::container};
    case 1:
      return Create{path + "/A-", "", CreateMode::ephemeral_sequential};
    case 2:
      return Create{child, "x", CreateMode::ephemeral};
    case 3:
      return Delete{child};
    case 4:
      return SetData{child, "y"};
    case 5:
      return Transaction{{Delete{child}, Create{child, ""}, SetData{path, "z"}}};
    case 6:
      return List{path, true};
    default:
      return Get{child, random.chance(0.5)};
  }
}

class ConsistencyTest : public ::testing::TestWithParam<int> {};

TEST_P(ConsistencyTest, AllServersEndUpWithTheSameTree) {
  Timeline timeline;
  Random random(static_cast<std::uint64_t>(GetParam()));
  EnsembleOptions options;
  Ensemble ensemble(timeline, random, options);
  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<std::unique_ptr<ModelSession>> sessions;
  ClientOptions client;
  client.pings = true;
  for (int i = 0; i < 3; ++i) {
    listeners.push_back(std::make_unique<Listener>());
    sessions.push_back(std::make_unique<ModelSession>(ensemble, *listeners.back(), client));
  }
  const auto run = [&](Span span) { timeline.run_until(timeline.now() + span); };
  run(milliseconds(50));
  RequestTag tag = 0;
  for (int i = 0; i < 300; ++i) {
    const std::size_t who = random.below(3);
    sessions[who]->submit(++tag, some_request(random));
    if (random.chance(0.02)) sessions[who]->cut(random.below(sessions[who]->underway() + 1));
    if (random.chance(0.02)) ensemble.server(random.between(1, 2)).freeze_until(timeline.now() + milliseconds(10));
    run(random.between(Span{}, milliseconds(2)));
  }
  run(milliseconds(100));
  std::size_t answered = 0;
  for (const auto& listener : listeners) answered += listener->replies.size();
  EXPECT_EQ(answered, tag) << "every request is answered once";
  for (int i = 1; i < ensemble.servers(); ++i) {
    const Tree& tree = ensemble.server(i).tree();
    ASSERT_EQ(tree.nodes().size(), ensemble.truth().nodes().size());
    for (const auto& [path, node] : ensemble.truth().nodes()) {
      const Node* copy = tree.find(path);
      ASSERT_NE(copy, nullptr) << path;
      EXPECT_EQ(copy->data, node.data);
      EXPECT_EQ(copy->mzxid, node.mzxid);
      EXPECT_EQ(copy->counter, node.counter);
      EXPECT_EQ(copy->ephemeral_owner, node.ephemeral_owner);
    }
  }
}

// A session sees its own writes, and never an older state than it has seen.
TEST_P(ConsistencyTest, ASessionSeesItsOwnWrites) {
  Timeline timeline;
  Random random(static_cast<std::uint64_t>(GetParam()));
  Ensemble ensemble(timeline, random, {});
  Listener listener;
  ClientOptions client;
  client.pings = true;
  ModelSession session(ensemble, listener, client);
  RequestTag tag = 0;
  for (int i = 0; i < 50; ++i) {
    while (!session.connected()) timeline.step();
    const std::string path = "/n" + std::to_string(i);
    session.submit(++tag, Create{path, ""});
    session.submit(++tag, Exists{path});
    while (!listener.replies.contains(tag)) timeline.step();
    ASSERT_TRUE(listener.replies[tag - 1].ok());
    EXPECT_TRUE(listener.replies[tag].ok()) << path;
    session.cut(0);
    while (!session.connected()) timeline.step();
    session.submit(++tag, Exists{path});
    while (!listener.replies.contains(tag)) timeline.step();
    EXPECT_TRUE(listener.replies[tag].ok()) << path << " after the reconnect";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConsistencyTest, ::testing::Range(1, 51));

}  // namespace
}  // namespace forelock::model
