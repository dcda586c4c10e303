// Signals as something to be read, in place of handlers that interrupt.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <vector>

#include "cli/descriptor.h"
#include "cli/wake_up.h"

namespace forelock::cli {

// Make it before any thread: threads inherit that these signals are blocked. One for a process. Signals that the
// process was started with as ignored (nohup) stay ignored.
class SignalQueue {
 public:
  explicit SignalQueue(const std::vector<int>& signals);

  // Waits for a signal, for `wake_up`, or until the instant. Only the first of several signals; the others come next.
  // \returns the signal; nothing if it was not one.
  std::optional<int> wait(const WakeUp& wake_up, std::chrono::steady_clock::time_point until);

 private:
  Descriptor descriptor_;
};

}  // namespace forelock::cli
