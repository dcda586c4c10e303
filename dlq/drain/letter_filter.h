// A LetterFilter selects dead letters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forelock/dead_letter_sink.h"

namespace forelock::drain {

struct UnreadableLetter;

// All conditions that are set must hold; of several values in one condition, any.
struct LetterFilter {
  std::vector<std::string> ids;
  std::vector<std::string> monitors;
  std::vector<std::string> types;
  std::vector<std::string> reasons;
  std::optional<WallTime> since;  // failed_at >= since
  std::optional<WallTime> until;  // failed_at < until
  bool parked = false;            // those in the parking place instead of those in the queue

  // Whether nothing but `parked` is set.
  bool empty() const;
  // Looks at everything but `parked`, which chooses the place.
  bool matches(const DeadLetter& letter) const;
  // The same for what is no letter: its position stands for the id, its key for the monitor, its code for the reason;
  // it has neither type nor time.
  bool matches(const UnreadableLetter& letter) const;
};

}  // namespace forelock::drain
