#include "drain/resolution_state.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "records/wall_time.h"

namespace forelock::drain {
namespace {

using Kind = ResolutionState::Kind;

// A number at most `most` that fills the text.
template <class Number>
std::optional<Number> number_in(std::string_view text, Number most) {
  std::uint64_t number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == end;
  if (!whole || number > static_cast<std::uint64_t>(most)) return std::nullopt;
  return static_cast<Number>(number);
}

// Cuts off what stands before the next space.
std::string_view next_word(std::string_view& text) {
  const auto space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(std::min(space + 1, text.size()));
  return word;
}

// "PARTITION/OFFSET".
std::optional<kafka::RecordPlace> place_in(std::string_view word) {
  const auto slash = word.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto partition = number_in(word.substr(0, slash), std::numeric_limits<std::int32_t>::max());
  const auto offset = number_in(word.substr(slash + 1), std::numeric_limits<std::int64_t>::max());
  if (!partition || !offset) return std::nullopt;
  return kafka::RecordPlace{*partition, *offset};
}

std::optional<Kind> kind_in(std::string_view word) {
  if (word == "trying") return Kind::open;
  if (word == name_of(Resolution::parked)) return Kind::parked;
  if (word == name_of(Resolution::replayed)) return Kind::replayed;
  if (word == name_of(Resolution::purged)) return Kind::purged;
  return std::nullopt;
}

}  // namespace

std::string resolution_key(const DeadLetter& letter) {
  std::string key = letter.id + '@' + records::format_wall_time(letter.failed_at);
  if (letter.replay_count > 0) key += '#' + std::to_string(letter.replay_count);
  return key;
}

std::string to_text(const ResolutionState& state, std::optional<kafka::RecordPlace> put_back) {
  std::string text;
  switch (state.kind) {
    case Kind::open:
      text = "trying " + std::to_string(state.tries);
      if (put_back) {
        text += " from " + std::to_string(put_back->partition) + '/' + std::to_string(put_back->offset);
      }
      break;
    case Kind::parked:
      text = name_of(Resolution::parked);
      if (state.tries > 0) text += " " + std::to_string(state.tries);
      break;
    case Kind::replayed:
      text = name_of(Resolution::replayed);
      break;
    case Kind::purged:
      text = name_of(Resolution::purged);
      break;
  }
  if (state.writer > 0) text += " @" + std::to_string(state.writer);
  return text;
}

std::optional<ParsedResolution> parse_resolution(std::string_view text) {
  ParsedResolution parsed;
  ResolutionState& state = parsed.state;
  const auto kind = kind_in(next_word(text));
  if (!kind) return std::nullopt;
  state.kind = *kind;
  const bool counts = state.kind == Kind::open || state.kind == Kind::parked;
  std::string_view word = next_word(text);
  if (counts && !word.empty() && word.front() != '@') {
    const auto tries = number_in<std::uint16_t>(word, ResolutionState::most);
    if (!tries) return std::nullopt;
    state.tries = *tries;
    word = next_word(text);
  } else if (state.kind == Kind::open) {
    return std::nullopt;
  }
  if (state.kind == Kind::open && word == "from") {
    parsed.put_back = place_in(next_word(text));
    if (!parsed.put_back) return std::nullopt;
    word = next_word(text);
  }
  if (!word.empty()) {
    const auto writer =
        word.front() == '@' ? number_in(word.substr(1), std::numeric_limits<std::uint64_t>::max()) : std::nullopt;
    if (!writer) return std::nullopt;
    state.writer = *writer;
  }
  if (!text.empty()) return std::nullopt;
  return parsed;
}

}  // namespace forelock::drain
