// Files that only the user of this process can access, and may therefore contain secrets.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/problems.h"

namespace forelock::config {

// What is wrong with it, unless it is a regular file that belongs to this process's user and has mode 0600 or less.
std::optional<Fault> private_file_fault(const std::filesystem::path& path);

// The text of such a file without the end of its last line; reads at most `limit` + 1 bytes, so a longer text has more
// than `limit`. What is wrong otherwise; never says any of the contents. `content` is for the hint: "a file with …".
std::variant<std::string, Fault> read_private_file(const std::filesystem::path& path, std::size_t limit,
                                                   std::string_view content);

}  // namespace forelock::config
