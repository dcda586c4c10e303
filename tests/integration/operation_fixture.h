// Shared by the tests of operations: a server, clients, a sink that remembers, and both ways to run.
#pragma once

#include "integration/fixture.h"
#include "support/tcp_proxy.h"
#include "support/test.h"

namespace forelock::test {

// Keeps the letters, or refuses them with outbox_full.
class RecordingSink final : public DeadLetterSink {
 public:
  void accept(const DeadLetter& letter) override;

  std::vector<DeadLetter> letters() const;
  void refuse(bool on);

 private:
  mutable std::mutex mutex_;
  std::vector<DeadLetter> letters_;
  bool refuse_ = false;
};

// How a run ended: with a result, or with an error.
struct Outcome {
  std::optional<OperationResult> result;
  std::string code;  // of the error
  std::string message;

  bool succeeded() const { return result && result->status == OperationResult::Status::succeeded; }
  bool dead_lettered() const { return result && result->status == OperationResult::Status::dead_lettered; }
};

Outcome outcome_of(const std::exception_ptr& error);

// `client_` goes through a proxy, `other_` does not. The parameter says which way operations are run.
class OperationTest : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  OperationTest();

  Settings settings(const std::string& servers, std::initializer_list<std::pair<std::string, std::string>> more = {});
  Operation operation() const;
  // Retries come at once.
  static OperationRunnerOptions quick();
  // The first retry is a day away, give or take.
  static OperationRunnerOptions patient();

  // Begins to run it; the handler is called on a thread that may block, whichever way it is.
  std::future<Outcome> begin(OperationRunner& runner, Operation operation, OperationRunner::Handler handler,
                             OperationRunOptions options = {});
  Outcome run(OperationRunner& runner, Operation operation, OperationRunner::Handler handler,
              OperationRunOptions options = {});
  static Outcome result_of(std::future<Outcome>& future);

  void wait_until_queued(std::size_t count);
  void expire_session();
  void remove_lock_by_force();

  static TestServer* server_;
  TcpProxy proxy_{server_->port()};
  std::string monitor_;
  Client client_;
  Client other_;
  RecordingSink sink_;

 private:
  std::mutex mutex_;
  std::vector<std::jthread> workers_;
};

}  // namespace forelock::test
