// The source of signals for a thread that watches a child.
#pragma once

#include <chrono>
#include <optional>

#include "cli/process/wake_up.h"

namespace forelock::cli {

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

}  // namespace forelock::cli
