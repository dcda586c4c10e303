// Lets another thread's callback end a poll().
#pragma once

#include "cli/descriptor.h"

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

}  // namespace forelock::cli
