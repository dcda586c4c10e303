// The last acquisition of an object, known by the tag that the host gave it. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace forelock::capi {

class LastAcquisition {
 public:
  // Runs `acquire`, which begins one and does not wait; one that does not begin changes nothing.
  template <class Acquire>
  auto begin(std::optional<std::uint64_t> tag, Acquire&& acquire) {
    const std::lock_guard guard(mutex_);
    const auto begun = acquire();
    tag_ = tag;
    return begun;
  }
  // Runs `cancel` unless another one has begun since, and none begins meanwhile. \returns what that returns, or false.
  template <class Cancel>
  bool cancel(std::uint64_t tag, Cancel&& cancel) {
    const std::lock_guard guard(mutex_);
    return tag_ == tag && cancel();
  }

 private:
  std::mutex mutex_;
  std::optional<std::uint64_t> tag_;
};

}  // namespace forelock::capi
