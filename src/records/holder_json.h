// The holder's record made from the waiting contender's: it is written at every grant, so nothing is encoded twice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "forelock/owner_record.h"

namespace forelock::records {

// What a record gains with the grant.
struct HolderTimes {
  WallTime acquired_at{};
  std::optional<WallTime> alert_at;
  std::optional<WallTime> auto_unlock_at;
};

// How many bytes these times can take in a record; OwnerRecord::to_json() always leaves so much room.
inline constexpr std::size_t holder_times_bytes = 128;

// `waiting_json` must come from OwnerRecord::to_json() of a record that has none of these times. The result is the same
// as to_json() of the record with them.
std::string holder_json(std::string_view waiting_json, const HolderTimes& times);

// The times as members of a JSON object, each with a comma behind it. They come first in the order of the keys.
void append_holder_times(const std::optional<WallTime>& acquired_at, const std::optional<WallTime>& alert_at,
                         const std::optional<WallTime>& auto_unlock_at, std::string& out);

}  // namespace forelock::records
