#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "capi/handles.h"
#include "capi/lock_arguments.h"
#include "capi/owner.h"
#include "capi/replay_object.h"
#include "capi/structure.h"
#include "forelock/c.h"

using namespace forelock;
using namespace forelock::capi;

namespace {

std::vector<std::string> values_of(const char* const* values, std::size_t count, const char* name) {
  constexpr std::size_t most = 10'000;
  if (values == nullptr) return {};
  if (count > most) {
    throw RequestRejectedException(ErrorCode::invalid_argument, {},
                                   std::to_string(count) + " values of " + name + "; at most " + std::to_string(most));
  }
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(text_of(values[i], name));
  return all;
}

ReplayOptions replay_options_of(const fl_replay_options* given) {
  const fl_replay_options options = read_structure(given);
  ReplayOptions result;
  result.filter.ids = values_of(options.ids, options.id_count, "ids");
  result.filter.monitors = values_of(options.monitors, options.monitor_count, "monitors");
  result.filter.types = values_of(options.types, options.type_count, "types");
  result.filter.reasons = values_of(options.reasons, options.reason_count, "reasons");
  if (options.since_ms != 0) result.filter.since = WallTime(std::chrono::milliseconds(options.since_ms));
  if (options.until_ms != 0) result.filter.until = WallTime(std::chrono::milliseconds(options.until_ms));
  result.filter.parked = options.parked != 0;
  result.outbox = options.outbox != 0;
  if (options.max != 0) result.max = options.max;
  result.rate = options.rate;
  if (options.concurrency != 0) result.concurrency = options.concurrency;
  if (options.lock_timeout_ms != 0) result.lock_timeout = duration_of(options.lock_timeout_ms);
  if (options.max_tries != 0) result.max_tries = options.max_tries;
  if (options.max_unresolved != 0) result.max_unresolved = options.max_unresolved;
  return result;
}

std::int64_t count_ms(WallTime time) {
  return time.time_since_epoch().count();
}

// The thread keeps it: its texts are valid until the same function's next call.
const ReplayedLetter& letter_of_attempt(fl_attempt attempt, std::shared_ptr<const ReplayedLetter>& kept) {
  const auto use = find<AttemptObject>(attempt);
  require(use->letter() != nullptr, "this attempt is one at an operation, and not a dead letter");
  kept = use->letter();
  return *kept;
}

}  // namespace

extern "C" {

int32_t fl_dlq_replay(fl_client client, fl_dlq dlq, const fl_replay_options* options, uint64_t tag, fl_replay* replay) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    const auto letters = find<DeadLettersObject>(dlq)->letters_for(*use->state());
    fl_replay& result = target(replay);
    use->client().wait_connected(std::chrono::milliseconds(0));  // one that cannot be used is told at once
    const fl_replay handle = add(std::make_unique<ReplayObject>(
        std::make_shared<ReplayState>(use->state(), letters, replay_options_of(options), tag)));
    result = handle;  // before its first event may come
    try {
      find<ReplayObject>(handle)->start(handle);
    } catch (...) {
      result = 0;
      capi::remove<ReplayObject>(handle);
      throw;
    }
  });
}

int32_t fl_dlq_preview_replay(fl_dlq dlq, const fl_replay_options* options, fl_replay_preview* preview) {
  return capi::run([&] {
    const ReplayPreview seen = find<DeadLettersObject>(dlq)->letters()->preview_replay(replay_options_of(options));
    write_structure(preview, {.size = 0,
                              .letters = seen.letters,
                              .unreadable = seen.unreadable,
                              .overtaken = seen.overtaken,
                              .oldest_ms = seen.oldest ? count_ms(*seen.oldest) : -1});
  });
}

int32_t fl_attempt_letter(fl_attempt attempt, fl_letter* letter) {
  return capi::run([&] {
    thread_local std::shared_ptr<const ReplayedLetter> kept;
    const auto& [read, tries, stop] = letter_of_attempt(attempt, kept);
    write_structure(letter, {.size = 0,
                             .id = read.id.c_str(),
                             .type = read.type.c_str(),
                             .monitor = read.monitor.c_str(),
                             .priority = to_c(read.priority),
                             .tries = tries,
                             .lock_info = read.lock_info.c_str(),
                             .payload = read.payload.data(),
                             .payload_length = read.payload.size(),
                             .reason = read.reason.c_str(),
                             .failure_count = read.attempts.size(),
                             .max_attempts = read.max_attempts,
                             .replay_count = read.replay_count,
                             .enqueued_at_ms = count_ms(read.enqueued_at),
                             .failed_at_ms = count_ms(read.failed_at),
                             .instance = read.client.instance.c_str(),
                             .traceparent = read.traceparent.c_str()});
  });
}

int32_t fl_attempt_failure(fl_attempt attempt, size_t index, fl_failed_attempt* failure) {
  return capi::run([&] {
    thread_local std::shared_ptr<const ReplayedLetter> kept;
    const auto& all = letter_of_attempt(attempt, kept).letter.attempts;
    require(index < all.size(), "there is no failed attempt with this index");
    const FailedAttempt& read = all[index];
    write_structure(failure, {.size = 0,
                              .at_ms = count_ms(read.at),
                              .code = read.code.c_str(),
                              .message = read.message.c_str(),
                              .waited_ms = read.waited.count()});
  });
}

int32_t fl_attempt_should_stop(fl_attempt attempt) {
  int32_t should_stop = 1;
  capi::run([&] {
    const auto use = find<AttemptObject>(attempt);
    const bool lost = !use->hold().healthy();
    should_stop = lost || (use->letter() != nullptr && use->letter()->stop.stop_requested()) ? 1 : 0;
  });
  return should_stop;
}

int32_t fl_replay_stop(fl_replay replay) {
  return capi::run([&] { find<ReplayObject>(replay)->state().stop(); });
}

int32_t fl_replay_get_report(fl_replay replay, fl_replay_report* report) {
  return capi::run([&] {
    thread_local std::shared_ptr<const ReplayReport> kept;
    kept = find<ReplayObject>(replay)->state().report();
    write_structure(report, {.size = 0,
                             .replayed = kept->replayed,
                             .failed = kept->failed,
                             .later = kept->later,
                             .parked = kept->parked,
                             .skipped = kept->skipped,
                             .unreadable = kept->unreadable,
                             .stopped = kept->stopped ? 1 : 0,
                             .unresolved = kept->unresolved.size(),
                             .unresolved_left_out = kept->unresolved_left_out,
                             .unsettled = kept->unsettled.c_str()});
  });
}

int32_t fl_replay_unresolved(fl_replay replay, size_t index, fl_unresolved_letter* letter) {
  return capi::run([&] {
    thread_local std::shared_ptr<const ReplayReport> kept;
    kept = find<ReplayObject>(replay)->state().report();
    require(index < kept->unresolved.size(), "there is no unresolved letter with this index");
    const UnresolvedLetter& read = kept->unresolved[index];
    write_structure(letter, {.size = 0,
                             .id = read.id.c_str(),
                             .type = read.type.c_str(),
                             .monitor = read.monitor.c_str(),
                             .outcome = static_cast<std::int32_t>(read.outcome),
                             .why = read.why.c_str()});
  });
}

int32_t fl_replay_free(fl_replay replay) {
  return capi::run([&] { capi::remove<ReplayObject>(replay)->state().close(); });
}
}
