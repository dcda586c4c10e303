// Converts a stored record to a letter, or to an unreadable record.
#pragma once

#include <string>
#include <variant>

#include "drain/letter_filter.h"
#include "drain/letter_store.h"

namespace forelock::drain {

using LetterOrNot = std::variant<StoredLetter, UnreadableLetter>;

// Never throws for what the record holds.
LetterOrNot read_letter(std::string position, std::string key, std::string record);

// Shows it to the visitor if it matches. \returns whether to go on.
bool visit_letter(const LetterOrNot& read, const LetterFilter& filter, LetterVisitor& visitor);

}  // namespace forelock::drain
