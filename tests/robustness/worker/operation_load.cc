// Operations under locks that fail more often than not: each succeeds, or becomes a dead letter, or stays with its
// caller. Which of them, the history shall know.
#include "forelock/client.h"
#include "forelock/dead_letter_queue.h"
#include "forelock/operation_runner.h"
#include "robustness/history/letter_hash.h"
#include "robustness/history/recorded_call.h"
#include "robustness/history/resource_visitor.h"
#include "robustness/worker/load.h"
#include "robustness/worker/patience.h"
#include "robustness/worker/section_plan.h"
#include "support/wait_until.h"

namespace forelock::robustness {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t largest_payload = 3000;
constexpr milliseconds longest_visit{3};

OperationRunnerOptions quick_retries() {
  OperationRunnerOptions options;
  options.backoff = {milliseconds(5), milliseconds(200)};
  return options;
}

class OperationLoad final : public Load {
 public:
  OperationLoad(const WorkerOptions& options, HistoryWriter& history)
      : options_(options),
        history_(history),
        client_(options.settings),
        queue_(options.settings),
        runner_(client_, queue_, quick_retries()) {
    for (int i = 0; i < options.threads; ++i) {
      threads_.emplace_back([this, i](const std::stop_token& stop) { work(stop, i); });
    }
  }

  void stop() override {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
    test::wait_until([this] { return client_.statistics().contenders == 0; }, settle_patience);
    history_.event("quiet").add("contenders", client_.statistics().contenders);
  }
  void close() override { client_.close(); }

 private:
  void work(const std::stop_token& stop, int index) {
    ResourceVisitor visitor(options_.resource, options_.process);
    SectionPlanner planner(options_, index);
    std::mt19937_64 random(options_.seed * 1000 + static_cast<std::uint64_t>(index) + 500);
    for (int number = 0; !stop.stop_requested(); ++number) {
      const SectionPlan plan = planner.next();
      Operation operation;
      operation.id = options_.process + "-" + std::to_string(index) + "-" + std::to_string(number);
      operation.type = "propagate";
      operation.monitor = plan.monitor;
      operation.priority = plan.priority;
      operation.payload.resize(std::uniform_int_distribution<std::size_t>(0, largest_payload)(random));
      for (char& byte : operation.payload) byte = static_cast<char>(random());
      run(operation, stop, visitor, random);
      pause(stop, plan.pause);
    }
  }

  void run(const Operation& operation, const std::stop_token& stop, ResourceVisitor& visitor, std::mt19937_64& random) {
    tell("handed", operation)
        .add("hash", letter_hash(operation.type, operation.monitor, operation.payload))
        .add("monitor", operation.monitor);
    OperationRunOptions limits;
    limits.stop = stop;
    try {
      const OperationResult result = runner_.run(
          operation, [&](OperationAttempt& attempt) { handle(attempt, visitor, random); }, limits);
      tell(result.status == OperationResult::Status::succeeded ? "succeeded" : "accepted", operation);
    } catch (const Error& error) {
      tell("kept", operation).add("code", name_of(error.code()));
      pause(stop, rest_after_failure);
    }
  }

  void handle(OperationAttempt& attempt, ResourceVisitor& visitor, std::mt19937_64& random) {
    const RecordedCall call(history_, attempt.operation.monitor, attempt.operation.priority);
    if (visitor.enter(call, attempt.lock.fencing_token())) {
      const auto until =
          steady_clock::now() + milliseconds(random() % static_cast<unsigned>(longest_visit.count() + 1));
      while (steady_clock::now() < until && attempt.lock.healthy()) pause({}, milliseconds(1));
      visitor.leave();
    }
    const auto fate = random() % 10;
    if (fate < 4) return;
    throw OperationFailure("index_busy", "attempt " + std::to_string(attempt.number), fate < 7);
  }

  HistoryEvent tell(const char* what, const Operation& operation) const {
    HistoryEvent event = history_.event(what);
    event.add("id", operation.id);
    return event;
  }

  const WorkerOptions& options_;
  HistoryWriter& history_;
  Client client_;
  DeadLetterQueue queue_;
  OperationRunner runner_;
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<Load> make_operation_load(const WorkerOptions& options, HistoryWriter& history) {
  return std::make_unique<OperationLoad>(options, history);
}

}  // namespace forelock::robustness
