// Dead letters as JSON: the contract of the command line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "drain/letter_statistics.h"
#include "drain/letter_store.h"

namespace forelock::cli {

nlohmann::ordered_json json_of(const std::vector<FailedAttempt>& attempts);

// What `list` says of a letter; free of the payload.
nlohmann::ordered_json json_of(const drain::StoredLetter& letter, WallTime now);
// With "unreadable":true, so that it is not taken for a letter.
nlohmann::ordered_json json_of(const drain::UnreadableLetter& letter);

// Numbers, ages, and how many of each reason, type and monitor.
nlohmann::ordered_json json_of(const drain::LetterStatistics& statistics, WallTime now);

// A record as it is stored, but on one line: others may have written it with line breaks.
std::string one_line(const std::string& record);

}  // namespace forelock::cli
