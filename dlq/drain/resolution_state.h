// The state of a letter as a record of the resolved topic gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drain/letter_store.h"
#include "kafka/record.h"

namespace forelock::drain {

// As text: "replayed", "parked", "purged" or "trying N"; a parked letter of which a replay has begun is "parked N".
// Behind "trying N" " from PARTITION/OFFSET", if the letter was put back into the queue: where that copy stands. Behind
// it all " @TOKEN", the fencing token of the drainer that wrote it.
struct ResolutionState {
  enum class Kind : std::uint8_t { open, parked, replayed, purged };

  Kind kind = Kind::open;
  std::uint16_t tries = 0;   // begun without success; since it was parked, if it was
  std::uint64_t writer = 0;  // the token of the drainer that said so; 0: of none

  static constexpr std::uint32_t most = 0xffff;  // of tries: more count as so many

  // Whether the letter has left the queue: for the parking place, or for good.
  bool has_left_queue() const { return kind != Kind::open; }
  // Whether it stands in the parking place.
  bool stands_parked() const { return kind == Kind::parked; }
  // Whether it is nowhere any more.
  bool is_done() const { return has_left_queue() && !stands_parked(); }

  bool operator==(const ResolutionState&) const = default;
};

// The key of a letter in the resolved topic: "ID@FAILED_AT", and "#N" behind it when it comes from its Nth replay. An
// id may be used again, and an operation that was replayed into a topic may fail again there: what fails later is
// another letter, which is open whatever became of the earlier one.
std::string resolution_key(const DeadLetter& letter);

// `put_back`: see above; for an open letter.
std::string to_text(const ResolutionState& state, std::optional<kafka::RecordPlace> put_back = {});

struct ParsedResolution {
  ResolutionState state;
  std::optional<kafka::RecordPlace> put_back;
};
// Nothing for what it does not know: written by something newer, or by hand.
std::optional<ParsedResolution> parse_resolution(std::string_view text);

}  // namespace forelock::drain
