// Detects whether the process has been forked since the guard was created.
#pragma once

#include <atomic>
#include <cstdint>

namespace forelock::zookeeper {

// In a forked child the session's threads do not exist and its locks may be held for ever, but its socket is shared
// with the parent: nothing may be touched there. Costs one relaxed load. Thread-safe.
class ForkGuard {
 public:
  ForkGuard();
  bool in_child() const { return generation_.load(std::memory_order_relaxed) != born_; }

 private:
  static void count_fork();

  static inline std::atomic<std::uint32_t> generation_{0};
  const std::uint32_t born_;
};

}  // namespace forelock::zookeeper
