// A dead letter as JSON: the value of its Kafka record, and of its row in the outbox. Schema:
// docs/dead-letter.schema.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "forelock/dead_letter_sink.h"

namespace forelock::letter {

// The version that this code writes and the newest that it reads.
inline constexpr std::int64_t schema_version = 1;
// Longer input is refused unread.
inline constexpr std::size_t max_letter_bytes = 8 * 1024 * 1024;
// No letter that to_json writes is longer: a full payload in base64, and every text at its limit.
inline constexpr std::size_t max_written_bytes = 3 * 1024 * 1024;

// One line, keys in a fixed order. The payload is base64. Invalid UTF-8 in texts is replaced, and long texts are cut
// (letter_limits.h); a monitor id that is not UTF-8 is an error, as the key would change. A trace context that is no
// printable ASCII is left out. \throws RequestRejectedException(invalid_argument, request_too_large).
std::string to_json(const DeadLetter& letter);

// Everything that to_json writes; unknown keys are ignored. What it returns can be written again, and reads the same.
// \throws Error(record_invalid) saying what and where, or Error(record_too_new) naming both versions. Never quotes the
// payload.
DeadLetter from_json(std::string_view json);

}  // namespace forelock::letter
