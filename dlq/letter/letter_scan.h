// A quick scan of a dead letter, for code that passes it on and needs no payload.
#pragma once

#include <optional>
#include <string_view>

#include "forelock/dead_letter_sink.h"

namespace forelock::letter {

// What from_json makes of a record that to_json has written, without the payload, in a tenth of the time. Nothing for
// text in any other form, which may be a letter all the same: from_json decides. For records that are known to be
// undamaged: not all that from_json refuses is noticed. Never throws for bad input.
std::optional<DeadLetter> scan_json(std::string_view json);

}  // namespace forelock::letter
