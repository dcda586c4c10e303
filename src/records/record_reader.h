// Reads an owner record from bytes of any, untrusted, origin.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "forelock/owner_record.h"

namespace forelock::records {

// Longer input is not a record, and not parsed: memory stays bounded.
inline constexpr std::size_t max_record_input = 64 * 1024;

// A JSON object that has at least one of lockInfo, instance and guid. Other keys may be missing or be unknown ones with
// any value; a known key with a value of the wrong kind makes it no record. Never throws for bad input.
std::optional<OwnerRecord> read_record(std::string_view json);

}  // namespace forelock::records
