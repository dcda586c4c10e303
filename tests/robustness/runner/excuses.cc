#include "robustness/runner/excuses.h"

namespace forelock::robustness {

void Excuses::set(Key key, Clock::time_point until) {
  const std::lock_guard guard(mutex_);
  until_[std::move(key)] = until;
}

std::string Excuses::reason(const std::string& process, const std::string& monitor, Clock::time_point begun) const {
  if (ask_) ask_();
  const std::lock_guard guard(mutex_);
  for (const Key& key : {Key{"paused", process}, Key{"session_ended", process}, Key{"removed", monitor}}) {
    const auto found = until_.find(key);
    if (found != until_.end() && begun < found->second) return key.first;
  }
  return {};
}

}  // namespace forelock::robustness
