// JSON as it is written: one line of UTF-8 that cannot steer a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace forelock::cli {

// Without a line break. Whatever bytes a text has, the result is UTF-8 without control characters.
std::string json_text(const nlohmann::ordered_json& json);

// Escapes the control characters that JSON permits in its strings: DEL and U+0080 to U+009F. \param json is valid, so
// they stand nowhere else.
std::string escaped_json(std::string json);

// Writes it to stderr, as a line.
void write_json_to_stderr(const nlohmann::ordered_json& json);

}  // namespace forelock::cli
