#include "robustness/runner/excuses.h"

namespace forelock::robustness {

void Excuses::set(Key key, Clock::time_point until) {
  const std::lock_guard guard(mutex_);
  until_[std::move(key)] = until;
}

void Excuses::not_removed(const std::string& monitor, const std::string& act) {
  const std::lock_guard guard(mutex_);
  until_.erase({"removed", monitor, act});
}

std::string Excuses::reason(const std::string& process, const std::string& monitor, Clock::time_point begun) const {
  if (ask_) ask_();
  const std::lock_guard guard(mutex_);
  for (const Key& key : {Key{"paused", process}, Key{"session_ended", process}, Key{"removed", monitor}}) {
    for (auto found = until_.lower_bound(key); found != until_.end(); ++found) {
      if (found->first[0] != key[0] || found->first[1] != key[1]) break;
      if (begun < found->second) return key[0];
    }
  }
  return {};
}

}  // namespace forelock::robustness
