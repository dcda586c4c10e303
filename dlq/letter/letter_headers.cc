#include "letter/letter_headers.h"

#include <cstdint>
#include <utility>

#include "letter/one_line.h"
#include "records/wall_time.h"

namespace forelock::letter {
namespace {

constexpr std::size_t max_message_bytes = 1000;
constexpr std::size_t max_text_bytes = 1000;

// What may stand in a path of a URI as it is (RFC 3986, unreserved); everything else is percent-encoded.
std::string uri_segment(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string segment;
  for (const char c : text.substr(0, max_text_bytes)) {
    if (unreserved.find(c) != std::string_view::npos) {
      segment += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      segment += '%';
      segment += digits[byte >> 4];
      segment += digits[byte & 0xF];
    }
  }
  return segment.empty() ? "unknown" : segment;
}

}  // namespace

std::vector<Header> headers_of(const DeadLetter& letter) {
  const FailedAttempt none{};
  const FailedAttempt& first = letter.attempts.empty() ? none : letter.attempts.front();
  const FailedAttempt& last = letter.attempts.empty() ? none : letter.attempts.back();
  std::vector<Header> headers;
  headers.reserve(15);
  const auto add = [&headers](std::string name, std::string_view value, std::size_t limit = max_text_bytes) {
    headers.push_back({std::move(name), one_line(value, limit)});
  };
  add("content-type", "application/json");
  add("ce_specversion", "1.0");
  add("ce_id", letter.id);
  add("ce_source", "/forelock/" + uri_segment(letter.client.host) + '/' + std::to_string(letter.client.pid));
  add("ce_type", std::string(event_type_prefix) + letter.type);
  add("ce_time", records::format_wall_time(letter.failed_at));
  add("ce_subject", letter.monitor);
  add("dlq_reason", letter.reason.empty() ? last.code : letter.reason);
  add("dlq_message", last.message, max_message_bytes);
  add("dlq_attempts", std::to_string(letter.attempts.size()));
  add("dlq_max_attempts", std::to_string(letter.max_attempts));
  add("dlq_first_failed_at", records::format_wall_time(letter.attempts.empty() ? letter.failed_at : first.at));
  add("dlq_failed_at", records::format_wall_time(letter.failed_at));
  add("dlq_replay_count", std::to_string(letter.replay_count));
  if (!letter.traceparent.empty()) add("traceparent", letter.traceparent);
  return headers;
}

}  // namespace forelock::letter
