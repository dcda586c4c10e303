// The holder's record made from the waiting contender's: it is written at every grant, so nothing is encoded twice.
#pragma once

#include <chrono>
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

// The same for a grant of this moment, with the times that the holder's options say.
std::string holder_json_now(std::string_view waiting_json, std::optional<std::chrono::milliseconds> expected_runtime,
                            std::optional<std::chrono::milliseconds> auto_unlock_after);

// The record without what only the holder's is read for: its stack, and the names of the other members of its set.
std::string brief_json(OwnerRecord record);

// The times as members of a JSON object, each with a comma behind it. They come first in the order of the keys.
void append_holder_times(const std::optional<WallTime>& acquired_at, const std::optional<WallTime>& alert_at,
                         const std::optional<WallTime>& auto_unlock_at, std::string& out);

}  // namespace forelock::records
