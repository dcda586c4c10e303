// The faults of a run: what was done, and what could not be.
#pragma once

#include "robustness/history/history_writer.h"

namespace forelock::robustness {

// Thread-safe.
class FaultLog {
 public:
  explicit FaultLog(HistoryWriter& history) : history_(history) {}

  // \returns the fault's number. `at`: where it is known only later.
  std::uint64_t begin(const std::string& kind, std::string_view target, std::string_view detail,
                      HistoryEvent::Clock::time_point at = HistoryEvent::Clock::now());
  void end(std::uint64_t number, const std::string& kind);
  void skip(const std::string& kind, std::string_view reason);

  // By kind, those that have begun.
  std::map<std::string, std::uint64_t> counts() const;
  // By kind, why some did not, with the number.
  std::map<std::string, std::map<std::string, std::uint64_t>> skipped() const;

 private:
  HistoryWriter& history_;
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  std::map<std::string, std::map<std::string, std::uint64_t>> skipped_;
};

}  // namespace forelock::robustness
