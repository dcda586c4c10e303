#include "letter/letter_limits.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "letter/one_line.h"

namespace forelock::letter {
namespace {

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
}

std::string too_long(std::string_view what, std::size_t bytes, std::size_t limit) {
  return std::string(what) + " has " + std::to_string(bytes) + " bytes; at most " + std::to_string(limit) +
         " are possible";
}

}  // namespace

std::optional<Flaw> flaw_of(const DeadLetter& letter) {
  const auto invalid = [](std::string message, std::string hint) {
    return Flaw{ErrorCode::invalid_argument, std::move(message), std::move(hint)};
  };
  if (letter.id.empty()) return invalid("The dead letter has no id", "Give it one that is unique, such as a UUID.");
  if (letter.id.size() > max_id_bytes) {
    return invalid(too_long("The dead letter's id", letter.id.size(), max_id_bytes), "Use a shorter id, or a UUID.");
  }
  if (!is_printable_ascii(letter.id)) {
    return invalid("The dead letter's id holds characters other than printable ASCII", "Use a UUID, or encode it.");
  }
  if (letter.type.empty()) return invalid("The dead letter has no type", "Say what kind of operation it was.");
  if (letter.type.size() > max_type_bytes) {
    return invalid(too_long("The dead letter's type", letter.type.size(), max_type_bytes), "Use a shorter type.");
  }
  if (letter.monitor.empty()) return invalid("The dead letter has no monitor id", "Name the monitor of its lock.");
  if (letter.monitor.size() > max_monitor_bytes) {
    return invalid(too_long("The dead letter's monitor id", letter.monitor.size(), max_monitor_bytes),
                   "No such monitor can be locked: use the id that the operation was run with.");
  }
  if (!base::is_utf8(letter.monitor)) {
    return invalid("The dead letter's monitor id is not UTF-8, so it cannot be the key of a record",
                   "Encode the id as UTF-8; the lock needs the same id.");
  }
  if (letter.attempts.empty()) {
    return invalid("The dead letter has no failed attempt", "Say at least how its last attempt failed.");
  }
  if (letter.attempts.size() > max_attempts) {
    return Flaw{ErrorCode::request_too_large,
                "The dead letter has " + std::to_string(letter.attempts.size()) + " failed attempts; at most " +
                    std::to_string(max_attempts) + " can be kept",
                "Keep the first and the last ones."};
  }
  if (letter.payload.size() > max_payload_bytes) {
    return Flaw{ErrorCode::request_too_large,
                too_long("The dead letter's payload", letter.payload.size(), max_payload_bytes),
                "Keep large things in a store, and their address in the payload."};
  }
  return std::nullopt;
}

}  // namespace forelock::letter
