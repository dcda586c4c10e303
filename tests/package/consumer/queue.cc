// The same for the dead-letter queue: an operation that fails for good ends in the outbox.
#include <forelock/forelock.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace {

int run(const char* servers, const char* outbox) {
  forelock::Settings settings;
  settings.set({{"zookeeper.servers", servers}, {"dlq.outbox.path", outbox}});
  forelock::Client client(settings);
  forelock::DeadLetterQueue queue(settings);
  forelock::OperationRunner runner(client, queue);
  forelock::Operation operation;
  operation.type = "saveContent";
  operation.monitor = "P1";
  const forelock::OperationResult result = runner.run(operation, [](forelock::OperationAttempt&) {
    throw forelock::OperationFailure("disk_full", "no room for the content", false);
  });
  const forelock::DeadLetterQueueStatistics statistics = queue.statistics();
  std::cout << "dead letter " << result.id << " (" << result.reason << "), " << statistics.outbox_rows
            << " in the outbox\n";
  const bool waits = statistics.outbox_rows == 1 && statistics.oldest_age && !queue.flush(std::chrono::seconds(0));
  return result.status == forelock::OperationResult::Status::dead_lettered && result.reason == "disk_full" && waits ? 0
                                                                                                                    : 1;
}

// The exceptions of the second library are those of the first.
bool refuses_a_folder_in_the_way(const char* outbox) {
  forelock::Settings settings;
  settings.set("dlq.outbox.path", std::string(outbox) + "/below/a/file.db");
  try {
    const forelock::DeadLetterQueue queue(settings);
  } catch (const forelock::Error& error) {
    return error.code() == forelock::ErrorCode::outbox_unavailable;
  }
  return false;
}

}  // namespace

int main() {
  if (forelock::version() != PACKAGE_VERSION) {
    std::cerr << "the library says " << forelock::version() << ", the package " << PACKAGE_VERSION << '\n';
    return 1;
  }
  const char* servers = std::getenv("FORELOCK_ZOOKEEPER");
  const char* outbox = std::getenv("CONSUMER_OUTBOX");
  if (servers == nullptr || outbox == nullptr) {
    std::cerr << "FORELOCK_ZOOKEEPER or CONSUMER_OUTBOX is not set\n";
    return 1;
  }
  try {
    const int failed = run(servers, outbox);
    if (!refuses_a_folder_in_the_way(outbox)) {
      std::cerr << "an outbox below a file is not refused as it should be\n";
      return 1;
    }
    return failed;
  } catch (const forelock::Error& error) {
    std::cerr << name_of(error.code()) << ": " << error.what() << '\n';
    return 1;
  }
}
