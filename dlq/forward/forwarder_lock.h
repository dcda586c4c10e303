// One forwarder per outbox, over all processes of this machine.
#pragma once

#include <filesystem>

#include "outbox/own_descriptor.h"

namespace forelock::forward {

// flock() on the file PATH.forwarder beside the outbox: the kernel frees it when the process dies, however that
// happens, and also where it has left children of fork() behind, which do not keep it (own_descriptor.h). Not
// thread-safe.
class ForwarderLock {
 public:
  // The file belongs to the outbox's owner, also where root makes it. \throws Error(outbox_unavailable) if it cannot be
  // made.
  explicit ForwarderLock(const std::filesystem::path& outbox);
  // Its end frees it.
  ForwarderLock(const ForwarderLock&) = delete;
  ForwarderLock& operator=(const ForwarderLock&) = delete;

  // Takes it if it is free. \returns whether it is ours now; if not, another process has it, or another object of
  // this one. Never waits. \throws Error(outbox_unavailable) if that cannot be found out.
  bool try_acquire();
  bool held() const { return held_; }

 private:
  const outbox::OwnDescriptor file_;
  bool held_ = false;
};

}  // namespace forelock::forward
