#include "robustness/runner/fault_log.h"

namespace forelock::robustness {

std::uint64_t FaultLog::begin(const std::string& kind, std::string_view target, std::string_view detail,
                              HistoryEvent::Clock::time_point at) {
  const std::lock_guard guard(mutex_);
  ++counts_[kind];
  history_.event("fault_begin", at).add("fault", kind).add("target", target).add("id", ++last_).add("detail", detail);
  return last_;
}

void FaultLog::end(std::uint64_t number, const std::string& kind) {
  history_.event("fault_end").add("fault", kind).add("id", number);
}

void FaultLog::skip(const std::string& kind, std::string_view reason) {
  const std::lock_guard guard(mutex_);
  ++skipped_[kind][std::string(reason)];
  history_.event("fault_skipped").add("fault", kind).add("reason", reason);
}

std::map<std::string, std::uint64_t> FaultLog::counts() const {
  const std::lock_guard guard(mutex_);
  return counts_;
}

std::map<std::string, std::map<std::string, std::uint64_t>> FaultLog::skipped() const {
  const std::lock_guard guard(mutex_);
  return skipped_;
}

}  // namespace forelock::robustness
