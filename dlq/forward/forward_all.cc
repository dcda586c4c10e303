#include "forward/forward_all.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "forelock/error.h"
#include "forward/forwarder.h"
#include "forward/open_outbox.h"

namespace forelock::forward {

ForwardProgress forward_all(const Settings& settings, LogSink log,
                            const std::function<void(const ForwardProgress&)>& progress, std::stop_token stop,
                            ForwardUntil until) {
  if (!kafka_is_configured(settings)) {
    throw Error(ErrorCode::configuration, "", "kafka.bootstrap.servers is not set: there is no Kafka to forward to",
                "set kafka.bootstrap.servers to the brokers' host:port list; without it the outbox is the queue");
  }
  outbox::Outbox outbox(outbox_options(settings, log));
  Forwarder forwarder(settings, outbox, log);
  std::mutex mutex;
  std::condition_variable_any stopped;
  for (;;) {
    // The depth last: what is refused by now is part of it.
    const ForwarderState state = forwarder.state();
    const outbox::OutboxDepth depth = outbox.depth();
    const ForwardProgress now{.waiting = depth.rows - depth.parked,
                              .delivered = state.delivered,
                              .failures = state.failures,
                              .refused = state.refused,
                              .another_forwards = state.another_forwards,
                              .last_problem = state.last_problem};
    if (progress) progress(now);
    const bool done = until == ForwardUntil::empty && now.waiting <= now.refused;
    if (done || stop.stop_requested()) return now;
    std::unique_lock guard(mutex);
    const std::chrono::milliseconds pause(until == ForwardUntil::empty ? 200 : 5000);
    stopped.wait_for(guard, stop, pause, [] { return false; });
  }
}

}  // namespace forelock::forward
