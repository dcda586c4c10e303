// Why a holder may not know yet that it is none any more: what the runner has done to it. Generous, since it does not
// know which lock was hit; robustness_check does, and judges each excuse that was used.
#pragma once

#include "support/standard.h"

namespace forelock::robustness {

// Thread-safe. What is said before the deed holds from then on; the word that it is over starts the time that it may
// take the holder to notice.
class Excuses {
 public:
  using Clock = std::chrono::steady_clock;

  void paused(const std::string& process) { set({"paused", process}, never); }
  void resumed(const std::string& process) { set({"paused", process}, Clock::now() + time_to_notice); }
  void session_ending(const std::string& process) { set({"session_ended", process}, never); }
  void session_ended(const std::string& process) { set({"session_ended", process}, Clock::now() + time_to_notice); }
  void removing(const std::string& monitor) { set({"removed", monitor}, never); }
  // `act`: of another than the runner, who may say later that it has done nothing.
  void removed(const std::string& monitor, const std::string& act = {}) {
    set({"removed", monitor, act}, Clock::now() + time_to_notice);
  }
  void not_removed(const std::string& monitor, const std::string& act);

  // Called before each answer: what is put on record by others than the runner. Once, before there are answers.
  void ask_first(std::function<void()> ask) { ask_ = std::move(ask); }

  // For an access of this process that has begun then; empty if there is no excuse.
  std::string reason(const std::string& process, const std::string& monitor, Clock::time_point begun) const;

 private:
  using Key = std::array<std::string, 3>;  // what happened, to whom, and by which act if not the runner's

  static constexpr Clock::time_point never = Clock::time_point::max();
  // A holder that is not told of it notices by its session's time-out; the longest is 6 s.
  static constexpr std::chrono::milliseconds time_to_notice{7000};

  void set(Key key, Clock::time_point until);

  std::function<void()> ask_;
  mutable std::mutex mutex_;
  std::map<Key, Clock::time_point> until_;
};

}  // namespace forelock::robustness
