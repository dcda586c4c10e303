// Ids of dead letters as people type them: a beginning that is only one letter's stands for the whole.
#pragma once

#include <string>
#include <vector>

#include "drain/letter_store.h"

namespace forelock::cli {

// As many characters as a beginning must have at least.
inline constexpr std::size_t shortest_beginning = 4;

// Replaces each beginning by the whole id. What is an id or a position already, or the beginning of none, stays.
// \throws FailureException (usage) for the beginning of several; Error of the store, which it reads to the end unless
// every id is a whole UUID.
void complete_ids(drain::LetterStore& store, std::vector<std::string>& ids);

}  // namespace forelock::cli
