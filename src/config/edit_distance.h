// The distance between a misspelt word and a known one.
#pragma once

#include <cstddef>
#include <string_view>

namespace forelock::config {

// Levenshtein's distance in bytes: the least number of insertions, deletions and replacements.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace forelock::config
