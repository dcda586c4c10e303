// An operator's wish in the owner record of a contender that waits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "forelock/priority.h"

namespace forelock::records {

// The record with this wish in place of an earlier one, and everything else that is in it. Nothing if it is no owner
// record.
std::optional<std::string> with_wish(std::string_view json, Priority wish);

}  // namespace forelock::records
