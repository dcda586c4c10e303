#include "forward/problem_log.h"

namespace forelock::forward {

void ProblemLog::trouble(const std::string& message) {
  {
    const std::lock_guard guard(mutex_);
    last_ = message;
    if (present_ == message) return;
    present_ = message;
  }
  tell("warning", message);
}

void ProblemLog::refusal(const std::string& message) {
  std::uint64_t number = 0;
  {
    const std::lock_guard guard(mutex_);
    last_ = message;
    number = ++refusals_;
  }
  if (number <= refusals_told) tell("error", message);
  if (number == refusals_told) tell("error", "further letters that are refused are not named one by one");
}

void ProblemLog::recovered(const std::string& message) {
  {
    const std::lock_guard guard(mutex_);
    if (present_.empty()) return;
    present_.clear();
  }
  tell("info", message);
}

void ProblemLog::info(const std::string& message) {
  tell("info", message);
}

std::string ProblemLog::last() const {
  const std::lock_guard guard(mutex_);
  return last_;
}

void ProblemLog::tell(std::string_view level, const std::string& message) {
  if (!sink_) return;
  try {
    sink_(level, message);
  } catch (...) {  // a log that fails must not end the forwarding
  }
}

}  // namespace forelock::forward
