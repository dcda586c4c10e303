// Signals as something to be read, in place of handlers that interrupt.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <vector>

#include "cli/process/descriptor.h"
#include "cli/process/wake_up.h"

namespace forelock::cli {

// The source of signals for a thread that watches a child.
class SignalSource {
 public:
  SignalSource() = default;
  virtual ~SignalSource() = default;
  SignalSource(const SignalSource&) = delete;
  SignalSource& operator=(const SignalSource&) = delete;

  // Waits for a signal, for `wake_up`, or until the instant. Only the first of several signals; the others come next.
  // \returns the signal; nothing if it was not one.
  virtual std::optional<int> wait(const WakeUp& wake_up, std::chrono::steady_clock::time_point until) = 0;
};

// Whether a signal asks the program to end.
bool ends_waiting(int signal);

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
