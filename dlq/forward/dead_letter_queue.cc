#include "forelock/dead_letter_queue.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "drain/handler_replay.h"
#include "forelock/error.h"
#include "forward/forwarder.h"
#include "forward/open_outbox.h"
#include "outbox/outbox.h"

namespace forelock {
namespace forward {
namespace {

// How soon flush() sees that another process has emptied the outbox.
constexpr std::chrono::milliseconds flush_interval{50};
// Longer waits than this have no end; in nanoseconds it is a number that still fits.
constexpr std::chrono::milliseconds longest_flush = std::chrono::hours(24) * 365 * 100;

}  // namespace

class QueueCore {
 public:
  QueueCore(const Settings& settings, const LogSink& log)
      : settings_(settings), log_(log), outbox_(outbox_options(settings, log)) {
    if (!kafka_is_configured(settings)) return;
    forwarder_ = std::make_unique<Forwarder>(settings, outbox_, log);
    outbox_.on_add([this] { forwarder_->wake(); });
  }
  ~QueueCore() { outbox_.on_add({}); }
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;

  void accept(const DeadLetter& letter) {
    outbox_.add(letter);
    ++accepted_;
  }

  // In a child after fork() there is no thread to end, and what it worked with is the parent's.
  bool belongs_here() const { return ::getpid() == process_; }

  const Settings& settings() const { return settings_; }
  const LogSink& log() const { return log_; }

  bool flush(std::chrono::milliseconds timeout) {
    const auto begin = std::chrono::steady_clock::now();
    timeout = std::min(timeout, longest_flush);
    for (;;) {
      const outbox::OutboxDepth depth = outbox_.depth();
      if (depth.rows == depth.parked) return true;
      const auto passed = std::chrono::steady_clock::now() - begin;
      if (!forwarder_ || passed >= timeout) return false;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(timeout - passed);
      forwarder_->wait_for_removal(std::min(left, flush_interval));
    }
  }

  DeadLetterQueueStatistics statistics() const {
    const outbox::OutboxDepth depth = outbox_.depth();
    DeadLetterQueueStatistics all;
    all.outbox_rows = depth.rows;
    all.outbox_bytes = depth.bytes;
    if (depth.oldest) {
      const auto age = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) - *depth.oldest;
      all.oldest_age = std::max(age, std::chrono::milliseconds(0));
    }
    all.accepted = accepted_;
    if (forwarder_) {
      ForwarderState state = forwarder_->state();
      all.delivered = state.delivered;
      all.delivery_failures = state.failures;
      all.last_problem = std::move(state.last_problem);
      all.forwarding = state.forwarding;
    }
    return all;
  }

 private:
  const pid_t process_ = ::getpid();
  const Settings settings_;
  const LogSink log_;
  outbox::Outbox outbox_;
  std::unique_ptr<Forwarder> forwarder_;  // ends before the outbox
  std::atomic<std::uint64_t> accepted_{0};
};

}  // namespace forward

DeadLetterQueue::DeadLetterQueue(const Settings& settings, LogSink log)
    : core_(std::make_unique<forward::QueueCore>(settings, log)) {}

DeadLetterQueue::~DeadLetterQueue() {
  if (!core_->belongs_here()) static_cast<void>(core_.release());
}

void DeadLetterQueue::accept(const DeadLetter& letter) {
  core_->accept(letter);
}

bool DeadLetterQueue::flush(std::chrono::milliseconds timeout) {
  return core_->flush(timeout);
}

DeadLetterQueueStatistics DeadLetterQueue::statistics() const {
  return core_->statistics();
}

ReplayReport DeadLetterQueue::replay(Client& client, const ReplayHandler& handler, const ReplayOptions& options,
                                     std::stop_token stop) {
  if (!core_->belongs_here()) {
    throw RequestRejectedException(ErrorCode::forked, {}, "this dead-letter queue belongs to the parent process",
                                   "Make one after fork().");
  }
  return drain::replay_by_handler(client, core_->settings(), handler, options, std::move(stop), core_->log());
}

ReplayPreview DeadLetterQueue::preview_replay(const ReplayOptions& options) const {
  return drain::preview_replay(core_->settings(), options, core_->log());
}

}  // namespace forelock
