// The limits of a dead letter, within which it can be a record of Kafka and a row of the outbox.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "forelock/dead_letter_sink.h"
#include "forelock/error.h"
#include "forelock/operation.h"

namespace forelock::letter {

// Limits of what identifies a letter: more is an error.
inline constexpr std::size_t max_id_bytes = Operation::max_id_bytes;
inline constexpr std::size_t max_type_bytes = Operation::max_id_bytes;
inline constexpr std::size_t max_monitor_bytes = 255;
inline constexpr std::size_t max_payload_bytes = Operation::max_payload_bytes;
inline constexpr std::size_t max_attempts = 1001;  // elastic.request.retry.count is at most 1,000

// Limits of texts for people, in bytes of JSON: more is cut when the letter is written.
inline constexpr std::size_t max_lock_info_bytes = 4096;
inline constexpr std::size_t max_message_bytes = 1000;
inline constexpr std::size_t max_code_bytes = 128;
inline constexpr std::size_t max_origin_bytes = 512;
inline constexpr std::size_t max_traceparent_bytes = 256;

// Why a letter cannot be written.
struct Flaw {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
  std::string hint;
};

// The first one, if there is any. Nothing in it quotes the payload.
std::optional<Flaw> flaw_of(const DeadLetter& letter);

}  // namespace forelock::letter
