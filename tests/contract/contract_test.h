// The fixture of the contract tests.
#pragma once

#include "contract/backend.h"
#include "contract/recorder.h"
#include "support/test.h"

namespace forelock::coordination {

// For the messages of failed tests.
inline void PrintTo(ReplyCode code, std::ostream* out) {
  *out << name_of(code);
}

}  // namespace forelock::coordination

namespace forelock::contract {

// One session of a test with its recorder. Reads like a synchronous client: ask() submits and waits for the reply.
class Party {
 public:
  Party(Backend& backend, Identity identity);
  ~Party();

  Recorder recorder;

  // Waits until the first `connected`.
  void connect();
  // Submits and returns the tag of the request.
  coordination::RequestTag send(coordination::Request request);
  // The reply of a request sent before; a failed test and connection_loss when none comes.
  coordination::Reply wait(coordination::RequestTag tag);
  coordination::Reply ask(coordination::Request request);
  bool wait_for(coordination::SessionEvent::Kind kind, std::size_t count = 1);
  bool wait_for_watches(std::size_t count);
  // When this returns, every watch event caused by what the server had applied before has been recorded.
  void settle(const std::string& path);
  coordination::SessionId id() const;

  coordination::Session& session() { return handle_->session(); }
  BackendSession& handle() { return *handle_; }

 private:
  Backend& backend_;
  coordination::RequestTag next_tag_ = 1;
  std::unique_ptr<BackendSession> handle_;
};

class ContractTest : public ::testing::TestWithParam<BackendMaker> {
 protected:
  void SetUp() override;

  // A connected session.
  std::unique_ptr<Party> join(Identity identity = Identity::anyone);
  // A node that is this test's own: "/contract-<unique>", and a path under it.
  const std::string& root() const { return root_; }
  std::string at(const std::string& name) const { return root_ + "/" + name; }
  Backend& backend() { return *backend_; }
  Capabilities can() const { return backend_->capabilities(); }

 private:
  std::unique_ptr<Backend> backend_;
  std::string root_;
};

// For INSTANTIATE_TEST_SUITE_P.
inline std::string backend_name(const ::testing::TestParamInfo<BackendMaker>& info) {
  return info.param.name;
}

}  // namespace forelock::contract
