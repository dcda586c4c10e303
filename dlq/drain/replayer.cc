#include "drain/replayer.h"

#include <cmath>
#include <utility>

#include "drain/replay_run.h"
#include "forelock/error.h"

namespace forelock::drain {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& hint) {
  throw RequestRejectedException(ErrorCode::invalid_argument, "", what, hint);
}

void check(const ReplayOptions& options) {
  constexpr double slowest = 1.0 / 3600;  // one letter an hour
  if (!std::isfinite(options.rate) || options.rate < 0 || (options.rate > 0 && options.rate < slowest)) {
    refuse("a rate of " + std::to_string(options.rate) + " letters per second is not possible",
           "Give 0 for as fast as it goes, or at least one letter an hour (0.0003).");
  }
  if (options.concurrency < 1 || options.concurrency > ReplayOptions::max_concurrency) {
    refuse("a concurrency of " + std::to_string(options.concurrency) + " is not possible",
           "Give 1 to " + std::to_string(ReplayOptions::max_concurrency) + ".");
  }
  if (options.max_tries < 1) refuse("a letter cannot be parked before its first try", "Give at least 1 try.");
  if (options.lock_timeout <= std::chrono::milliseconds::zero()) {
    refuse("a lock cannot be obtained within " + std::to_string(options.lock_timeout.count()) + " ms",
           "Give a positive time.");
  }
}

}  // namespace

Replayer::Replayer(Client& client, LetterStore& store, AnyTarget target, ReplayObserver& observer)
    : client_(client), store_(store), target_(std::move(target)), observer_(observer) {}

ReplayReport Replayer::run(const ReplayOptions& options, std::stop_token stop) {
  check(options);
  const DrainerLock drainer(client_, store_, "replay", stop);
  observer_.begun(drainer.token());
  ReplayReport report = ReplayRun(client_, store_, target_, observer_, options).run(stop, drainer.stop_token());
  try {
    drainer.check_health();
    store_.settle();
  } catch (const Error& problem) {
    report.unsettled = problem.what();
  }
  return report;
}

}  // namespace forelock::drain
