#include "integration/operation_fixture.h"

#include "support/session_killer.h"
#include "support/wait_until.h"

namespace forelock::test {

void RecordingSink::accept(const DeadLetter& letter) {
  const std::lock_guard guard(mutex_);
  if (refuse_) throw Error(ErrorCode::outbox_full, letter.monitor, "the outbox is full");
  letters_.push_back(letter);
}

std::vector<DeadLetter> RecordingSink::letters() const {
  const std::lock_guard guard(mutex_);
  return letters_;
}

void RecordingSink::refuse(bool on) {
  const std::lock_guard guard(mutex_);
  refuse_ = on;
}

Outcome outcome_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& problem) {
    return {std::nullopt, std::string(name_of(problem.code())), problem.what()};
  } catch (const std::exception& problem) {
    return {std::nullopt, "no code", problem.what()};
  }
}

TestServer* OperationTest::server_ = nullptr;

void OperationTest::SetUpTestSuite() {
  server_ = new TestServer(quick_server());
}

void OperationTest::TearDownTestSuite() {
  delete server_;
  server_ = nullptr;
}

OperationTest::OperationTest()
    : monitor_(::testing::UnitTest::GetInstance()->current_test_info()->name() + std::string()),
      client_(settings(proxy_.connect_string())),
      other_(settings(server_->connect_string())) {
  std::replace(monitor_.begin(), monitor_.end(), '/', '-');
  EXPECT_TRUE(client_.wait_connected(10s) && other_.wait_connected(10s));
}

Settings OperationTest::settings(const std::string& servers,
                                 std::initializer_list<std::pair<std::string, std::string>> more) {
  Settings settings = settings_for(servers, {{"zookeeper.session.timeout", "2000"}});
  for (const auto& [key, value] : more) settings.set(key, value);
  return settings;
}

Operation OperationTest::operation() const {
  Operation operation;
  operation.type = "saveContent";
  operation.monitor = monitor_;
  operation.payload = std::string("opaque \0 bytes", 14);
  return operation;
}

OperationRunnerOptions OperationTest::quick() {
  OperationRunnerOptions options;
  options.backoff = {1ms, 5ms};
  return options;
}

OperationRunnerOptions OperationTest::patient() {
  OperationRunnerOptions options;
  options.backoff = {24h, 24h};
  return options;
}

std::future<Outcome> OperationTest::begin(OperationRunner& runner, Operation operation,
                                          OperationRunner::Handler handler, OperationRunOptions options) {
  if (GetParam() == "blocking") {
    return std::async(std::launch::async, [&runner, operation, handler, options]() -> Outcome {
      try {
        return {runner.run(operation, handler, options), "", ""};
      } catch (...) {
        return outcome_of(std::current_exception());
      }
    });
  }
  const auto promise = std::make_shared<std::promise<Outcome>>();
  const auto work = [this, handler](std::shared_ptr<OperationAttempt> attempt, OperationRunner::Done done) {
    const std::lock_guard guard(mutex_);
    workers_.emplace_back([handler, attempt, done] {
      try {
        handler(*attempt);
        done(nullptr);
      } catch (...) {
        done(std::current_exception());
      }
    });
  };
  try {
    runner.run_async(
        std::move(operation), work,
        [promise](OperationResult result, std::exception_ptr error) {
          promise->set_value(error ? outcome_of(error) : Outcome{std::move(result), "", ""});
        },
        std::move(options));
  } catch (...) {
    promise->set_value(outcome_of(std::current_exception()));
  }
  return promise->get_future();
}

Outcome OperationTest::run(OperationRunner& runner, Operation operation, OperationRunner::Handler handler,
                           OperationRunOptions options) {
  auto future = begin(runner, std::move(operation), std::move(handler), std::move(options));
  return result_of(future);
}

Outcome OperationTest::result_of(std::future<Outcome>& future) {
  if (future.wait_for(30s) != std::future_status::ready) {
    ADD_FAILURE() << "the operation does not end";
    std::abort();  // whatever it uses is about to go
  }
  return future.get();
}

void OperationTest::wait_until_queued(std::size_t count) {
  EXPECT_TRUE(wait_until([&] {
    const auto view = Inspector(other_).show(monitor_);
    return view && view->queue.size() == count;
  }));
}

void OperationTest::expire_session() {
  EXPECT_TRUE(end_session("127.0.0.1", server_->port(), client_.session_id()));
  proxy_.cut_connections();
}

void OperationTest::remove_lock_by_force() {
  const auto view = Inspector(other_).show(monitor_);
  if (!view || !view->holder || !view->holder->node) {
    ADD_FAILURE() << "there is no holder";
    return;
  }
  EXPECT_EQ(Inspector(other_).force_release(monitor_, *view->holder->node), ForceReleaseResult::released);
}

}  // namespace forelock::test
