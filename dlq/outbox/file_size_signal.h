// A limit of the process on its files' sizes (RLIMIT_FSIZE).
#pragma once

#include <signal.h>

#include <ctime>

namespace forelock::outbox {

// While it lives, a write of this thread over the limit is an error and nothing else: the signal that comes with it
// would end the host's process.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &signal_, &before);
    was_blocked_ = sigismember(&before, SIGXFSZ) == 1;
  }
  ~FileSizeSignalBlocked() {
    if (was_blocked_) return;
    const timespec at_once{0, 0};
    while (sigtimedwait(&signal_, nullptr, &at_once) > 0) continue;
    pthread_sigmask(SIG_UNBLOCK, &signal_, nullptr);
  }
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;

 private:
  sigset_t signal_;
  bool was_blocked_ = false;
};

}  // namespace forelock::outbox
