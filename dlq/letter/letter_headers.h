// The headers of a dead letter's Kafka record: all UTF-8 text, with the names of CloudEvents' Kafka binding (binary
// content mode).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forelock/dead_letter_sink.h"

namespace forelock::letter {

struct Header {
  std::string name;
  std::string value;
};

// ce_type is this and the operation's type.
inline constexpr std::string_view event_type_prefix = "forelock.dead-letter.";

// content-type, ce_specversion, ce_id, ce_source ("/forelock/HOST/PID"), ce_type, ce_time (failed_at), ce_subject (the
// monitor id), dlq_reason, dlq_message (of the last attempt), dlq_attempts, dlq_max_attempts, dlq_first_failed_at,
// dlq_failed_at, dlq_replay_count, and traceparent where there is one. Values are one line each: invalid UTF-8 becomes
// U+FFFD, control characters become spaces, texts are cut to 1,000 bytes. Never holds the payload.
std::vector<Header> headers_of(const DeadLetter& letter);

}  // namespace forelock::letter
