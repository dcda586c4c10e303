// Counts of dead letters by kind: for `stats`, and for the output of a dry run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "drain/letter_filter.h"
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

// Letters that a filtered replay would pass by.
// Visits all letters of a place, oldest first within a monitor, and counts those that do not match and stand before one
// of their monitor that does. Monitors beyond max_monitors are not looked at.
class Overtaken final : public LetterVisitor {
 public:
  static constexpr std::size_t max_monitors = 100'000;

  explicit Overtaken(LetterFilter filter) : filter_(std::move(filter)) {}

  bool letter(const StoredLetter& letter) override {
    const auto found = waiting_.find(letter.letter.monitor);
    if (filter_.matches(letter.letter)) {
      if (found != waiting_.end()) count_ += std::exchange(found->second, 0);
    } else if (found != waiting_.end()) {
      ++found->second;
    } else if (waiting_.size() < max_monitors) {
      waiting_.emplace(letter.letter.monitor, 1);
    }
    return true;
  }
  bool unreadable(const UnreadableLetter&) override { return true; }

  std::uint64_t count() const { return count_; }

 private:
  const LetterFilter filter_;
  std::unordered_map<std::string, std::uint64_t> waiting_;  // since the last of their monitor that matches
  std::uint64_t count_ = 0;
};

// How many letters that do not match would be passed by later ones of their monitor. \throws Error of the store.
std::uint64_t overtaken_by(const LetterFilter& filter, LetterStore& store);

}  // namespace forelock::drain
