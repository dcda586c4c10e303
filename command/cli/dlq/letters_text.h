// Dead letters as text for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/console.h"
#include "cli/output/text_table.h"
#include "drain/letter_statistics.h"
#include "drain/letter_store.h"

namespace forelock::cli {

// "queued" or "parked".
std::string_view text_of(drain::LetterState state);

// Not less than nothing, whatever other machines' clocks say.
std::chrono::milliseconds age_of(WallTime instant, WallTime now);

// "1 letter", "7 letters".
std::string count_of_letters(std::uint64_t count);

// The columns of a list, and a row in them.
std::vector<TextTable::Column> letter_columns();
std::vector<TextTable::Cell> row_of(const drain::StoredLetter& letter, WallTime now);
std::vector<TextTable::Cell> row_of(const drain::UnreadableLetter& letter);

// Everything about one letter but its payload.
std::string text_of(const drain::StoredLetter& letter, WallTime now, const Console& console);
std::string text_of(const drain::UnreadableLetter& letter, const Console& console);

// How many letters of each reason, type and monitor: the most frequent of each. Empty text for none.
std::string histogram_of(const drain::LetterStatistics& statistics, const Console& console);

}  // namespace forelock::cli
