// Keeps a process from closing a client while it is inside the resource with one of that client's locks: whoever closes
// a client gives its locks away, and has nobody but itself to blame for what goes on under them.
#pragma once

#include "support/standard.h"

namespace forelock::robustness {

// Thread-safe.
class VisitGate {
 public:
  // False once it is closed. Otherwise leave() must follow.
  bool enter() {
    const std::lock_guard guard(mutex_);
    if (!closed_) ++inside_;
    return !closed_;
  }
  void leave() {
    const std::lock_guard guard(mutex_);
    --inside_;
    left_.notify_all();
  }
  // Nobody enters any more; returns when nobody is inside.
  void close() {
    std::unique_lock guard(mutex_);
    closed_ = true;
    left_.wait(guard, [this] { return inside_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  bool closed_ = false;
  int inside_ = 0;
};

}  // namespace forelock::robustness
