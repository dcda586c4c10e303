// A SpanQueue passes ended spans to the tracer, on a separate thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "client/dispatcher.h"
#include "forelock/tracing.h"

namespace forelock::client {

// Thread-safe.
class SpanQueue {
 public:
  // Spans that wait for the tracer; later ones are dropped and counted.
  static constexpr std::size_t max_waiting = 4096;

  // `warn` writes to the log. \param tracer not null.
  SpanQueue(std::shared_ptr<Tracer> tracer, std::function<void(const std::string&)> warn);

  Tracer& tracer() const { return *tracer_; }
  void start() { thread_.start(); }
  void add(LockSpan span);
  // Hands over what waits, then ends the thread. Not from the tracer.
  void stop();
  bool on_this_thread() const { return thread_.on_this_thread(); }

 private:
  void hand_over(const LockSpan& span);
  void say_dropped(std::size_t dropped);

  const std::shared_ptr<Tracer> tracer_;
  const std::function<void(const std::string&)> warn_;
  std::mutex mutex_;
  std::size_t waiting_ = 0;
  std::size_t dropped_ = 0;
  bool thrown_ = false;  // and said; for the thread alone
  Dispatcher thread_{"forelock-span"};
};

}  // namespace forelock::client
