#include "drain/handler_replay.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/counted.h"
#include "drain/letter_statistics.h"
#include "drain/open_store.h"
#include "forelock/error.h"
#include "forelock/operation.h"

namespace forelock::drain {
namespace {

StoreKind store_kind_of(const ReplayOptions& options) {
  return options.outbox ? StoreKind::outbox : StoreKind::configured;
}

// What changes a queue is said in the log, by whom and how it ended.
class LoggedReplay final : public ReplayObserver {
 public:
  LoggedReplay(const LogSink& log, std::string store) : log_(log), store_(std::move(store)) {}

  void event(Event, const StoredLetter&, const std::string&) override {}
  void begun(std::uint64_t token) override {
    begun_ = true;
    say("begins, under token " + std::to_string(token));
  }
  void ended(const ReplayReport& report) const {
    say("has ended: replayed " + std::to_string(report.replayed) + ", failed " + std::to_string(report.failed) +
        ", parked " + std::to_string(report.parked) + ", for later " + std::to_string(report.later + report.skipped) +
        (report.stopped ? "; stopped before the end" : ""));
  }
  void broken_off(const std::string& why) const {
    if (begun_) say("has ended early: " + why);
  }

 private:
  void say(const std::string& what) const {
    if (log_) log_("info", "replay of the dead letters in the " + store_ + " " + what);
  }

  const LogSink& log_;
  const std::string store_;
  bool begun_ = false;
};

}  // namespace

LetterTarget handler_target(const ReplayHandler& handler) {
  return [&handler](const StoredLetter& stored, WriteLock& lock, std::stop_token stop) -> TryResult {
    ReplayAttempt attempt{stored.letter, stored.tries, lock, std::move(stop)};
    const auto result = [](bool retryable, const std::string& code, const char* message) -> TryResult {
      return {retryable ? TryOutcome::later : TryOutcome::failed, code + ": " + message};
    };
    try {
      handler(attempt);
    } catch (const OperationFailure& failure) {
      return result(failure.retryable(), failure.code(), failure.what());
    } catch (const Error& error) {
      return result(error.retryable(), std::string(name_of(error.code())), error.what());
    }
    return {TryOutcome::done, ""};
  };
}

ReplayReport replay_by_handler(Client& client, const Settings& settings, const ReplayHandler& handler,
                               const ReplayOptions& options, std::stop_token stop, const LogSink& log) {
  if (!handler) {
    throw RequestRejectedException(ErrorCode::invalid_argument, "", "there is no handler to replay dead letters with",
                                   "Give a function that does the work of one letter.");
  }
  const auto store = open_store(settings, store_kind_of(options), log);
  LoggedReplay observer(log, store->describe());
  try {
    ReplayReport report = Replayer(client, *store, handler_target(handler), observer).run(options, std::move(stop));
    observer.ended(report);
    return report;
  } catch (const std::exception& problem) {
    observer.broken_off(problem.what());
    throw;
  }
}

ReplayPreview preview_replay(const Settings& settings, const ReplayOptions& options, const LogSink& log) {
  const auto store = open_store(settings, store_kind_of(options), log, StoreAccess::look);
  LetterStatistics letters;
  store->scan(options.filter, letters);
  return {.letters = std::min(letters.letters, options.max.value_or(letters.letters)),
          .unreadable = letters.unreadable_letters,
          .overtaken = overtaken_by(options.filter, *store),
          .oldest = letters.oldest};
}

}  // namespace forelock::drain
