// The dead-letter queue of the C interface.
#include "capi/dead_letters.h"

#include <string>
#include <utility>

#include "forelock/c.h"
#include "forelock/dead_letter_queue.h"

namespace {

using forelock::DeadLetterQueue;
using forelock::DeadLetterQueueStatistics;

class Letters final : public forelock::capi::DeadLetters {
 public:
  Letters(const forelock::Settings& settings, forelock::LogSink log) : queue_(settings, std::move(log)) {}

  forelock::DeadLetterSink& sink() override { return queue_; }
  bool flush(std::chrono::milliseconds timeout) override { return queue_.flush(timeout); }
  fl_dlq_status status() override {
    thread_local std::string problem;
    const DeadLetterQueueStatistics counts = queue_.statistics();
    problem = counts.last_problem;
    return {.size = 0,
            .outbox_rows = counts.outbox_rows,
            .outbox_bytes = counts.outbox_bytes,
            .oldest_age_ms = counts.oldest_age ? counts.oldest_age->count() : -1,
            .accepted = counts.accepted,
            .delivered = counts.delivered,
            .delivery_failures = counts.delivery_failures,
            .forwarding = counts.forwarding ? 1 : 0,
            .last_problem = problem.c_str()};
  }
  forelock::ReplayReport replay(forelock::Client& client, const forelock::ReplayHandler& handler,
                                const forelock::ReplayOptions& options, std::stop_token stop) override {
    return queue_.replay(client, handler, options, std::move(stop));
  }
  forelock::ReplayPreview preview_replay(const forelock::ReplayOptions& options) override {
    return queue_.preview_replay(options);
  }

 private:
  DeadLetterQueue queue_;
};

std::unique_ptr<forelock::capi::DeadLetters> make(const forelock::Settings& settings, forelock::LogSink log) {
  return std::make_unique<Letters>(settings, std::move(log));
}

}  // namespace

extern "C" int32_t fl_dlq_open(fl_config config, fl_dlq* dlq) {
  return fl_internal_open_dlq(config, &make, dlq);
}
