#include "client/call_watch.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace forelock::client {

CallWatch::CallWatch(std::initializer_list<const Dispatcher*> dispatchers, ClientLog& log) : log_(log) {
  for (const Dispatcher* dispatcher : dispatchers) watched_.push_back({dispatcher});
}

lock::TimePoint CallWatch::look(lock::TimePoint time, lock::Duration limit) {
  lock::TimePoint next = lock::never;
  for (Watched& watched : watched_) {
    const auto call = watched.dispatcher->running();
    if (!call || call->number == watched.warned_of) continue;
    if (time < call->since + limit) {
      next = std::min(next, call->since + limit);
      continue;
    }
    watched.warned_of = call->number;
    const auto runs_for = std::chrono::duration_cast<std::chrono::milliseconds>(time - call->since);
    log_.write("warning", "slow callback: " + call->kind + " of the lock on " + call->monitor +
                              " has been running for " + std::to_string(runs_for.count()) +
                              " ms; the callbacks of all locks share a thread, and wait for it");
  }
  return next;
}

}  // namespace forelock::client
