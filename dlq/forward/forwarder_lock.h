// One forwarder per outbox, over all processes of this machine.
#pragma once

#include <filesystem>

namespace forelock::forward {

// flock() on the file PATH.forwarder beside the outbox: the kernel frees it when the process dies, however that
// happens. Not thread-safe.
class ForwarderLock {
 public:
  // The file belongs to the outbox's owner, also where root makes it. \throws Error(outbox_unavailable) if it cannot be
  // made.
  explicit ForwarderLock(const std::filesystem::path& outbox);
  // Frees it.
  ~ForwarderLock();
  ForwarderLock(const ForwarderLock&) = delete;
  ForwarderLock& operator=(const ForwarderLock&) = delete;

  // Takes it if it is free. \returns whether it is ours now; if not, another process has it, or another object of
  // this one. Never waits. \throws Error(outbox_unavailable) if that cannot be found out.
  bool try_acquire();
  bool held() const { return held_; }

 private:
  int file_ = -1;
  bool held_ = false;
};

}  // namespace forelock::forward
