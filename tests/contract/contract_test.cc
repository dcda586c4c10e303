#include "contract/contract_test.h"

#include <unistd.h>

namespace forelock::contract {

using namespace coordination;

Party::Party(Backend& backend, Identity identity)
    : backend_(backend), handle_(backend.new_session(recorder, identity)) {}

Party::~Party() = default;

void Party::connect() {
  ASSERT_TRUE(wait_for(SessionEvent::Kind::connected)) << "the session does not connect";
}

RequestTag Party::send(Request request) {
  const RequestTag tag = next_tag_++;
  session().submit(tag, std::move(request));
  return tag;
}

Reply Party::wait(RequestTag tag) {
  std::optional<Reply> reply;
  backend_.run_until([&] { return (reply = recorder.reply(tag)).has_value(); });
  if (reply) return *reply;
  ADD_FAILURE() << "no reply to request " << tag;
  Reply none;
  none.code = ReplyCode::connection_loss;
  return none;
}

Reply Party::ask(Request request) {
  return wait(send(std::move(request)));
}

bool Party::wait_for(SessionEvent::Kind kind, std::size_t count) {
  return backend_.run_until([&] { return recorder.count(kind) >= count; });
}

bool Party::wait_for_watches(std::size_t count) {
  return backend_.run_until([&] { return recorder.watches().size() >= count; });
}

void Party::settle(const std::string& path) {
  send(Sync{path});
  ask(Exists{path});
}

SessionId Party::id() const {
  SessionId id = 0;
  for (const SessionEvent& event : recorder.session_events()) {
    if (event.kind == SessionEvent::Kind::connected) id = event.session;
  }
  return id;
}

void ContractTest::SetUp() {
  static std::atomic<int> counter{0};
  backend_ = GetParam().make();
  root_ = "/contract-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
  ASSERT_EQ(join()->ask(Create{root_, ""}).code, ReplyCode::ok);
}

std::unique_ptr<Party> ContractTest::join(Identity identity) {
  auto party = std::make_unique<Party>(*backend_, identity);
  party->connect();
  return party;
}

}  // namespace forelock::contract
