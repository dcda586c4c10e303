// The past of a monitor as JSON: the contract of /api/history.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/serve/history/history.h"

namespace forelock::cli {

// What a query such as "at=2026-11-27T03:12:00Z" or "from=…&to=…&limit=100" asks; without a span the hour before `now`.
// Nothing, and `problem`, for what is no question.
std::optional<HistoryQuestion> parse_question(const std::string& monitor, const std::string& query, WallTime now,
                                              std::string& problem);

// {"monitor","from","to","watched":[{"from","to"}],"stays":[…],"more"}. \throws HistoryProblem
nlohmann::ordered_json span_json(HistoryFile& file, const HistoryQuestion& question);
// {"monitor","at","watched","holder","waiting":[…]}: as it was at that moment. \throws HistoryProblem
nlohmann::ordered_json moment_json(HistoryFile& file, const HistoryQuestion& question);

}  // namespace forelock::cli
