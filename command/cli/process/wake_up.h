// Lets another thread's callback end a poll().
#pragma once

#include <chrono>

#include "cli/process/descriptor.h"

namespace forelock::cli {

class WakeUp {
 public:
  // \throws std::system_error.
  WakeUp();

  // From any thread; never blocks.
  void notify() const noexcept;
  // Forgets earlier notifications.
  void clear() const noexcept;
  // Readable after notify().
  int descriptor() const { return event_.get(); }

 private:
  Descriptor event_;
};

// Waits until the descriptor can be read, until `wake_up` is notified (which is forgotten then), or until the instant.
void wait_readable(int descriptor, const WakeUp& wake_up, std::chrono::steady_clock::time_point until);

}  // namespace forelock::cli
