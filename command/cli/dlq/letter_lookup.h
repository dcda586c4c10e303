// Lookup of what is named on a command line: a letter by its id or the beginning of it, or an unreadable record by its
// position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "drain/letter_store.h"

namespace forelock::cli {

// As many characters as a beginning must have at least.
inline constexpr std::size_t shortest_beginning = 4;

// What the letters are looked up for. A beginning is never enough for a change: the id that was meant may be gone, as
// when a command is repeated, and then it is the beginning of another letter's.
enum class Purpose : std::uint8_t { look, change };

// Replaces each beginning by the whole id. What is an id or a position already, or the beginning of none, stays.
// \throws FailureException: usage for the beginning of several, exit 1 for any beginning if it is for a change; Error
// of the store, which it reads to the end unless every id is a whole UUID.
void complete_ids(drain::LetterStore& store, std::vector<std::string>& ids, Purpose purpose);

using FoundLetter = std::variant<drain::StoredLetter, drain::UnreadableLetter>;

// Nothing if there is neither. \throws Error of the store; FailureException (usage) for the beginning of several ids.
std::optional<FoundLetter> look_up(drain::LetterStore& store, const std::string& id);

// \throws FailureException (exit 1) for what look_up() does not find.
[[noreturn]] void throw_unknown_letter(const drain::LetterStore& store, const std::string& id);

}  // namespace forelock::cli
