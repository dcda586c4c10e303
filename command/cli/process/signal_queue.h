// Signals as something to be read, in place of handlers that interrupt.
#pragma once

#include <signal.h>

#include <vector>

#include "cli/process/descriptor.h"
#include "cli/process/signal_source.h"

namespace forelock::cli {

// Make it before any thread: threads inherit that these signals are blocked. One for a process. Signals that the
// process was started with as ignored (nohup) stay ignored.
class SignalQueue final : public SignalSource {
 public:
  explicit SignalQueue(const std::vector<int>& signals);

  std::optional<int> wait(const WakeUp& wake_up, std::chrono::steady_clock::time_point until) override;

 private:
  Descriptor descriptor_;
};

}  // namespace forelock::cli
