// Counts of dead letters by kind: for `stats`, and for the output of a dry run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "drain/letter_store.h"

namespace forelock::drain {

// Counts what it visits. Names beyond max_names (those that come later) are counted together, so memory is bounded.
class LetterStatistics final : public LetterVisitor {
 public:
  static constexpr std::size_t max_names = 10'000;  // of reasons, types and monitors each

  bool letter(const StoredLetter& letter) override;
  bool unreadable(const UnreadableLetter& letter) override;

  std::uint64_t letters = 0;
  std::uint64_t unreadable_letters = 0;
  std::uint64_t bytes = 0;         // of records
  std::optional<WallTime> oldest;  // failed_at
  std::optional<WallTime> newest;
  std::map<std::string, std::uint64_t> by_reason;
  std::map<std::string, std::uint64_t> by_type;
  std::map<std::string, std::uint64_t> by_monitor;
  std::uint64_t other_reasons = 0;   // letters whose reason did not fit
  std::uint64_t other_types = 0;     // letters whose type did not fit
  std::uint64_t other_monitors = 0;  // letters of monitors that did not fit
};

}  // namespace forelock::drain
