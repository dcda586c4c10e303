#include "drain/resolution_state.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace forelock::drain {
namespace {

using Kind = ResolutionState::Kind;

// A number at most `most` that fills the text.
std::optional<std::uint16_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number > ResolutionState::most) return std::nullopt;
  return static_cast<std::uint16_t>(number);
}

// Cuts off what stands before the next space.
std::string_view next_word(std::string_view& text) {
  const auto space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(std::min(space + 1, text.size()));
  return word;
}

std::optional<Kind> kind_in(std::string_view word) {
  if (word == "trying") return Kind::open;
  if (word == name_of(Resolution::parked)) return Kind::parked;
  if (word == name_of(Resolution::replayed)) return Kind::replayed;
  if (word == name_of(Resolution::purged)) return Kind::purged;
  return std::nullopt;
}

}  // namespace

bool ResolutionState::has_left_queue(std::uint32_t replay_count) const {
  const auto asked = generation_of(replay_count);
  return generation > asked || (generation == asked && kind != Kind::open);
}

bool ResolutionState::stands_parked(std::uint32_t replay_count) const {
  return generation == generation_of(replay_count) && kind == Kind::parked;
}

bool ResolutionState::is_done(std::uint32_t replay_count) const {
  return has_left_queue(replay_count) && !stands_parked(replay_count);
}

std::uint32_t ResolutionState::tries_of(std::uint32_t replay_count) const {
  return generation == generation_of(replay_count) ? tries : 0;
}

std::uint16_t generation_of(std::uint32_t replay_count) {
  return static_cast<std::uint16_t>(std::min(replay_count, ResolutionState::most));
}

std::string to_text(const ResolutionState& state) {
  std::string text;
  switch (state.kind) {
    case Kind::open:
      text = "trying " + std::to_string(state.tries);
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
  if (state.generation > 0) text += " #" + std::to_string(state.generation);
  return text;
}

std::optional<ResolutionState> parse_resolution(std::string_view text) {
  ResolutionState state;
  const auto kind = kind_in(next_word(text));
  if (!kind) return std::nullopt;
  state.kind = *kind;
  const bool counts = state.kind == Kind::open || state.kind == Kind::parked;
  std::string_view word = next_word(text);
  if (counts && !word.empty() && word.front() != '#') {
    const auto tries = number_in(word);
    if (!tries) return std::nullopt;
    state.tries = *tries;
    word = next_word(text);
  } else if (state.kind == Kind::open) {
    return std::nullopt;
  }
  if (!word.empty()) {
    const auto generation = word.front() == '#' ? number_in(word.substr(1)) : std::nullopt;
    if (!generation) return std::nullopt;
    state.generation = *generation;
  }
  if (!text.empty()) return std::nullopt;
  return state;
}

}  // namespace forelock::drain
