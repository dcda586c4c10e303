#include "letter/letter_json.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <concepts>

#include "letter/base64.h"
#include "letter/letter_limits.h"
#include "records/json_text.h"
#include "records/wall_time.h"

namespace forelock::letter {
namespace {

// `name` is everything before the value: comma, key and colon.
void append_text(std::string_view name, std::string_view text, std::size_t limit, std::string& out) {
  out += name;
  out += '"';
  records::append_json_text(text, out, limit);
  out += '"';
}

template <std::integral Number>
void append_number(std::string_view name, Number number, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out += name;
  out.append(digits, end);
}

void append_time(std::string_view name, WallTime time, std::string& out) {
  out += name;
  out += '"';
  records::append_wall_time(time, out);
  out += '"';
}

void append_attempt(const FailedAttempt& attempt, std::string& out) {
  append_number("{\"n\":", attempt.number, out);
  append_time(",\"at\":", attempt.at, out);
  append_text(",\"code\":", attempt.code, max_code_bytes, out);
  append_text(",\"message\":", attempt.message, max_message_bytes, out);
  append_number(",\"waited_ms\":", std::max(attempt.waited, std::chrono::milliseconds(0)).count(), out);
  out += '}';
}

void append_client(const DeadLetterOrigin& client, std::string& out) {
  append_text(",\"client\":{\"host\":", client.host, max_origin_bytes, out);
  append_number(",\"pid\":", client.pid, out);
  append_text(",\"instance\":", client.instance, max_origin_bytes, out);
  append_text(",\"version\":", client.version, max_origin_bytes, out);
  out += '}';
}

bool is_traceparent(std::string_view text) {
  return !text.empty() && text.size() <= max_traceparent_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
}

}  // namespace

std::string to_json(const DeadLetter& letter) {
  if (const auto flaw = flaw_of(letter)) {
    throw RequestRejectedException(flaw->code, letter.monitor, flaw->message, flaw->hint);
  }
  constexpr std::size_t whole = std::string::npos;
  std::string json;
  json.reserve(1024 + letter.payload.size() / 3 * 4 + letter.attempts.size() * 256);
  append_number("{\"schema\":", schema_version, json);
  append_text(",\"id\":", letter.id, whole, json);
  append_text(",\"type\":", letter.type, whole, json);
  append_text(",\"monitor\":", letter.monitor, whole, json);
  append_text(",\"priority\":", name_of(letter.priority), whole, json);
  append_text(",\"lockInfo\":", letter.lock_info, max_lock_info_bytes, json);
  json += R"(,"payload":{"encoding":"base64","data":")";
  append_base64(letter.payload, json);
  json += "\"},\"attempts\":[";
  for (const FailedAttempt& attempt : letter.attempts) {
    if (&attempt != &letter.attempts.front()) json += ',';
    append_attempt(attempt, json);
  }
  json += ']';
  append_number(",\"max_attempts\":", letter.max_attempts, json);
  append_time(",\"enqueued_at\":", letter.enqueued_at, json);
  append_time(",\"failed_at\":", letter.failed_at, json);
  append_number(",\"replay_count\":", letter.replay_count, json);
  append_client(letter.client, json);
  // The reason is the last attempt's code, unless it is given.
  if (!letter.reason.empty() && letter.reason != letter.attempts.back().code) {
    append_text(",\"reason\":", letter.reason, max_code_bytes, json);
  }
  if (is_traceparent(letter.traceparent)) append_text(",\"traceparent\":", letter.traceparent, whole, json);
  json += '}';
  return json;
}

}  // namespace forelock::letter
