// Lookup of what is named on a command line: a letter by its id or the beginning of it, or an unreadable record by its
// position.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "drain/letter_store.h"

namespace forelock::cli {

// As many characters as a beginning must have at least.
inline constexpr std::size_t shortest_beginning = 4;

// Replaces each beginning by the whole id. What is an id or a position already, or the beginning of none, stays.
// \throws FailureException (usage) for the beginning of several; Error of the store, which it reads to the end unless
// every id is a whole UUID.
void complete_ids(drain::LetterStore& store, std::vector<std::string>& ids);

using FoundLetter = std::variant<drain::StoredLetter, drain::UnreadableLetter>;

// Nothing if there is neither. \throws Error of the store; FailureException (usage) for the beginning of several ids.
std::optional<FoundLetter> look_up(drain::LetterStore& store, const std::string& id);

// \throws FailureException (exit 1) for what look_up() does not find.
[[noreturn]] void throw_unknown_letter(const drain::LetterStore& store, const std::string& id);

}  // namespace forelock::cli
