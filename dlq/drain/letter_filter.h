// A LetterFilter selects dead letters.
#pragma once

#include <utility>

#include "forelock/dead_letter_replay.h"
#include "forelock/dead_letter_sink.h"

namespace forelock::drain {

struct UnreadableLetter;

// The public conditions, and whether a letter meets them.
struct LetterFilter : DeadLetterFilter {
  LetterFilter() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): it is the same thing.
  LetterFilter(DeadLetterFilter conditions) : DeadLetterFilter(std::move(conditions)) {}

  // Whether nothing but `parked` is set.
  bool empty() const;
  // Looks at everything but `parked`, which chooses the place.
  bool matches(const DeadLetter& letter) const;
  // The same for what is no letter: its position stands for the id, its key for the monitor, its code for the reason;
  // it has neither type nor time.
  bool matches(const UnreadableLetter& letter) const;
};

}  // namespace forelock::drain
