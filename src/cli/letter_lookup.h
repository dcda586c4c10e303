// Lookup of what is named on a command line: a letter by its id or the beginning of it, or an unreadable record by its
// position.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "drain/letter_store.h"

namespace forelock::cli {

using FoundLetter = std::variant<drain::StoredLetter, drain::UnreadableLetter>;

// Nothing if there is neither. \throws Error of the store; FailureException (usage) for the beginning of several ids.
std::optional<FoundLetter> look_up(drain::LetterStore& store, const std::string& id);

// \throws FailureException (exit 1) for what look_up() does not find.
[[noreturn]] void throw_unknown_letter(const drain::LetterStore& store, const std::string& id);

}  // namespace forelock::cli
