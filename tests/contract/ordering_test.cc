// Who hears what first.
#include "contract/contract_test.h"

namespace forelock::contract {
namespace {

using namespace coordination;

// The place of the reply, or of the first watch event of a path, in what was recorded; its size when absent.
std::size_t place_of_reply(const std::vector<Recorded>& log, RequestTag tag) {
  std::size_t i = 0;
  for (; i < log.size(); ++i) {
    const auto* reply = std::get_if<RecordedReply>(&log[i]);
    if (reply != nullptr && reply->tag == tag) break;
  }
  return i;
}

std::size_t place_of_watch(const std::vector<Recorded>& log, const std::string& path) {
  std::size_t i = 0;
  for (; i < log.size(); ++i) {
    const auto* event = std::get_if<WatchEvent>(&log[i]);
    if (event != nullptr && event->path == path) break;
  }
  return i;
}

std::size_t place_of_session(const std::vector<Recorded>& log, SessionEvent::Kind kind) {
  std::size_t i = 0;
  for (; i < log.size(); ++i) {
    const auto* event = std::get_if<SessionEvent>(&log[i]);
    if (event != nullptr && event->kind == kind) break;
  }
  return i;
}

TEST_P(ContractTest, RepliesComeInTheOrderOfTheRequests) {
  auto party = join();
  std::vector<RequestTag> sent;
  for (int i = 0; i < 100; ++i) {
    const std::string path = at("n" + std::to_string(i));
    sent.push_back(party->send(Create{path, ""}));
    sent.push_back(party->send(Exists{path}));
    sent.push_back(party->send(Transaction{{SetData{path, "x", 0}}}));
    sent.push_back(party->send(Sync{path}));
    sent.push_back(party->send(Get{at("/not a path")}));
    sent.push_back(party->send(List{root()}));
    sent.push_back(party->send(Delete{path, 1}));
  }
  party->wait(sent.back());
  std::vector<RequestTag> answered;
  for (const RecordedReply& each : party->recorder.replies()) {
    answered.push_back(each.tag);
    const std::size_t kind = (answered.size() - 1) % 7;
    EXPECT_EQ(each.reply.code, kind == 4 ? ReplyCode::invalid_argument : ReplyCode::ok) << answered.size();
  }
  EXPECT_EQ(answered, sent);
}

TEST_P(ContractTest, RequestsAreAppliedInTheOrderOfSubmission) {
  auto party = join();
  party->send(Create{at("P"), ""});
  party->send(Create{at("P/A-"), "", CreateMode::ephemeral_sequential});
  party->send(SetData{at("P"), "1"});
  party->send(SetData{at("P"), "2"});
  const auto listed = party->send(List{at("P")});
  const auto got = party->send(Get{at("P")});
  EXPECT_EQ(party->wait(listed).children, std::vector<std::string>{"A-0000000000"});
  EXPECT_EQ(party->wait(got).data, "2");
}

TEST_P(ContractTest, AWatchEventPrecedesTheReplyOfTheOwnRequestThatCausesIt) {
  auto party = join();
  ASSERT_EQ(party->ask(List{root(), true}).code, ReplyCode::ok);
  const auto created = party->send(Create{at("node"), ""});
  ASSERT_EQ(party->wait(created).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Get{at("node"), true}).code, ReplyCode::ok);
  const auto changed = party->send(Transaction{{Check{at("node")}, SetData{at("node"), "x"}}});
  ASSERT_EQ(party->wait(changed).code, ReplyCode::ok);
  const auto log = party->recorder.log();
  EXPECT_LT(place_of_watch(log, root()), place_of_reply(log, created));
  EXPECT_LT(place_of_watch(log, at("node")), place_of_reply(log, changed));
}

// The proof of a grant rests on it: who sees another's write has been told of it before.
TEST_P(ContractTest, AWatchEventPrecedesEveryReplyThatCouldShowTheChange) {
  auto watcher = join();
  auto writer = join();
  for (int round = 0; round < 20; ++round) {
    const std::string path = at("n" + std::to_string(round));
    ASSERT_EQ(watcher->ask(Exists{path, true}).code, ReplyCode::no_node);
    const auto created = writer->send(Create{path, ""});
    RequestTag last = 0;
    ASSERT_TRUE(backend().run_until([&] {
      last = watcher->send(Exists{path});
      return watcher->wait(last).code == ReplyCode::ok;
    }));
    const auto log = watcher->recorder.log();
    EXPECT_LT(place_of_watch(log, path), place_of_reply(log, last));
    EXPECT_EQ(writer->wait(created).code, ReplyCode::ok);
  }
}

TEST_P(ContractTest, AWatchEventPrecedesTheReplyOfALaterWrite) {
  auto watcher = join();
  auto writer = join();
  for (int round = 0; round < 20; ++round) {
    const std::string path = at("n" + std::to_string(round));
    ASSERT_EQ(watcher->ask(Exists{path, true}).code, ReplyCode::no_node);
    ASSERT_EQ(writer->ask(Create{path, ""}).code, ReplyCode::ok);
    // This write comes after the creation for every server.
    const auto later = watcher->send(SetData{root(), "x"});
    ASSERT_EQ(watcher->wait(later).code, ReplyCode::ok);
    const auto log = watcher->recorder.log();
    EXPECT_LT(place_of_watch(log, path), place_of_reply(log, later)) << round;
  }
}

TEST_P(ContractTest, AListenerMaySubmit) {
  auto party = join();
  constexpr RequestTag first = 1'000'000;
  constexpr RequestTag last = first + 50;
  party->recorder.set_hook([&](const Recorded& entry) {
    const auto* reply = std::get_if<RecordedReply>(&entry);
    if (reply != nullptr && reply->tag >= first && reply->tag < last) {
      party->session().submit(reply->tag + 1, Exists{reply->tag % 5 == 0 ? "refused at once" : root()});
    }
  });
  party->session().submit(first, Exists{root()});
  EXPECT_EQ(party->wait(last).code, ReplyCode::ok);
  party->recorder.set_hook(nullptr);
}

TEST_P(ContractTest, ConnectedComesFirst) {
  auto party = join();
  party->ask(Exists{root()});
  const auto log = party->recorder.log();
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(place_of_session(log, SessionEvent::Kind::connected), 0u);
  EXPECT_GT(std::get<SessionEvent>(log[0]).timeout.count(), 0);
}

TEST_P(ContractTest, LostRepliesComeBeforeTheDisconnection) {
  if (!can().cut || !can().withhold_replies) GTEST_SKIP();
  auto party = join();
  party->handle().withhold_replies();
  std::vector<RequestTag> sent;
  for (int i = 0; i < 10; ++i) sent.push_back(party->send(Exists{root()}));
  party->handle().cut();
  ASSERT_TRUE(party->wait_for(SessionEvent::Kind::disconnected));
  const auto log = party->recorder.log();
  for (const RequestTag tag : sent) {
    EXPECT_EQ(party->wait(tag).code, ReplyCode::connection_loss);
    EXPECT_LT(place_of_reply(log, tag), place_of_session(log, SessionEvent::Kind::disconnected));
  }
}

}  // namespace
}  // namespace forelock::contract
