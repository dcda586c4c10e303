#include "client/span_queue.h"

#include <exception>
#include <utility>

#include "base/counted.h"

namespace forelock::client {

SpanQueue::SpanQueue(std::shared_ptr<Tracer> tracer, std::function<void(const std::string&)> warn)
    : tracer_(std::move(tracer)), warn_(std::move(warn)) {}

void SpanQueue::add(LockSpan span) {
  std::size_t dropped = 0;
  {
    const std::lock_guard guard(mutex_);
    if (waiting_ >= max_waiting) {
      ++dropped_;
      return;
    }
    ++waiting_;
    dropped = std::exchange(dropped_, 0);
  }
  say_dropped(dropped);
  if (thread_.post({.run = [this, span = std::move(span)] { hand_over(span); }})) return;
  const std::lock_guard guard(mutex_);  // the client has been closed
  --waiting_;
}

void SpanQueue::hand_over(const LockSpan& span) {
  {
    const std::lock_guard guard(mutex_);
    --waiting_;
  }
  try {
    tracer_->ended(span);
  } catch (const std::exception& error) {
    if (!std::exchange(thrown_, true)) warn_("the tracer fails, and spans are lost: " + std::string(error.what()));
  } catch (...) {
    if (!std::exchange(thrown_, true)) warn_("the tracer fails, and spans are lost");
  }
}

void SpanQueue::say_dropped(std::size_t dropped) {
  if (dropped > 0) warn_(base::counted(dropped, "span was", "spans were") + " dropped: the tracer takes too long");
}

void SpanQueue::stop() {
  thread_.stop();
  std::size_t dropped = 0;
  {
    const std::lock_guard guard(mutex_);
    dropped = std::exchange(dropped_, 0);
  }
  say_dropped(dropped);
}

}  // namespace forelock::client
