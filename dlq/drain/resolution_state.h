// What a record of the resolved topic says about a letter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drain/letter_store.h"

namespace forelock::drain {

// An operation may come back: a letter that was replayed into a topic fails again there, and is in the queue again with
// the same id and a higher `replay_count`. So each state belongs to one such generation. The latest record of an id
// counts; what it says of a generation closes all earlier ones, which were the same operation.
//
// As text: "replayed", "parked", "purged" or "trying N"; a parked letter of which a replay has begun is "parked N".
// Generations other than 0 have " #G" behind it, as in "replayed #2".
struct ResolutionState {
  enum class Kind : std::uint8_t { open, parked, replayed, purged };

  Kind kind = Kind::open;
  std::uint16_t tries = 0;  // begun without success; since it was parked, if it was
  std::uint16_t generation = 0;

  static constexpr std::uint32_t most = 0xffff;  // of tries and generations: more count as so many

  // Whether a letter with this replay count has left the queue: for the parking place, or for good.
  bool has_left_queue(std::uint32_t replay_count) const;
  // Whether one stands in the parking place.
  bool stands_parked(std::uint32_t replay_count) const;
  // Whether one is nowhere any more.
  bool is_done(std::uint32_t replay_count) const;
  // How many tries of it have begun.
  std::uint32_t tries_of(std::uint32_t replay_count) const;

  bool operator==(const ResolutionState&) const = default;
};

// The generation of a letter.
std::uint16_t generation_of(std::uint32_t replay_count);

std::string to_text(const ResolutionState& state);
// Nothing for what it does not know: written by something newer, or by hand.
std::optional<ResolutionState> parse_resolution(std::string_view text);

}  // namespace forelock::drain
