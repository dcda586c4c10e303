// How far a misspelt word is from a known one.
#pragma once

#include <cstddef>
#include <string_view>

namespace forelock::config {

// Levenshtein's distance in bytes: the least number of insertions, deletions and replacements.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace forelock::config
