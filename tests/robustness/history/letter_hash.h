// The hash of a dead letter: made by the process that hands an operation over, and by the finder of the letter.
#pragma once

#include "support/standard.h"

namespace forelock::robustness {

// FNV-1a of everything that the operation was made of, as 16 hexadecimal digits.
inline std::string letter_hash(std::string_view type, std::string_view monitor, std::string_view payload) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const std::string_view part : {type, monitor, payload}) {
    for (const char each : part) mix(static_cast<unsigned char>(each));
    mix(0);
  }
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace forelock::robustness
