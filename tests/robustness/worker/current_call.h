// The call that a lock object is in, for its callbacks, which come on another thread.
#pragma once

#include "forelock/write_lock.h"
#include "robustness/history/recorded_call.h"

namespace forelock::robustness {

// Thread-safe. In a history a loss follows its grant, whichever thread is faster.
class CurrentCall {
 public:
  explicit CurrentCall(RecordedCall call) : call_(std::move(call)) {}

  void begin(const RecordedCall& call) {
    const std::lock_guard guard(mutex_);
    call_ = call;
    granted_ = false;
    lost_.reset();
  }
  void granted(const WriteLock& lock, std::int64_t session) {
    const std::string guid = lock.owner().guid;
    const std::lock_guard guard(mutex_);
    call_.granted(lock.fencing_token(), guid, session);
    granted_ = true;
    if (lost_) call_.lost(*lost_);
  }
  void lost(LossReason reason) {
    const std::lock_guard guard(mutex_);
    lost_ = name_of(reason);
    if (granted_) call_.lost(*lost_);
  }
  void note(std::string_view event) const {
    const std::lock_guard guard(mutex_);
    call_.event(event);
  }

 private:
  mutable std::mutex mutex_;
  RecordedCall call_;
  bool granted_ = false;
  std::optional<std::string> lost_;
};

}  // namespace forelock::robustness
