// Any bytes as a dead letter: a letter or an Error that says why not, and nothing else; what is read can be written,
// reads the same again, and has headers.
#include "letter/letter_json.h"
#include "base/utf8.h"
#include "check.h"
#include "forelock/error.h"
#include "letter/letter_headers.h"
#include "letter/letter_limits.h"

namespace {

bool has_control(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using forelock::DeadLetter;
  using forelock::ErrorCode;
  using forelock::fuzz::demand;
  const std::string text(data, data + size);
  DeadLetter letter;
  try {
    letter = forelock::letter::from_json(text);
  } catch (const forelock::Error& error) {
    demand(error.code() == ErrorCode::record_invalid || error.code() == ErrorCode::record_too_new, "a code of records");
    demand(!std::string_view(error.what()).empty(), "a message");
    return 0;
  }
  const std::string written = forelock::letter::to_json(letter);
  demand(written.size() <= forelock::letter::max_written_bytes, "the size that is promised");
  const DeadLetter again = forelock::letter::from_json(written);
  demand(again.id == letter.id && again.type == letter.type && again.monitor == letter.monitor, "the same letter");
  demand(again.payload == letter.payload && again.attempts.size() == letter.attempts.size(), "the same contents");
  demand(forelock::letter::to_json(again) == written, "the same text");
  for (const forelock::letter::Header& header : forelock::letter::headers_of(letter)) {
    demand(forelock::base::is_utf8(header.value) && !has_control(header.value) && header.value.size() <= 1000,
           "headers of one short line");
  }
  return 0;
}
