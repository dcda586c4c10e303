// Files that only the user of this process can access, or that root has put there for a group of it, as secrets are
// mounted into containers: they may contain secrets.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/problems.h"

namespace forelock::config {

// What is wrong with a file of this owner and mode for a process of that user: it is to belong to the user and have
// mode 0600 or less, or to root and have mode 0640 or less. The message lacks the file's name at its beginning.
std::optional<Fault> ownership_fault(uid_t owner, mode_t mode, uid_t user);

// What is wrong with it, unless it is such a regular file.
std::optional<Fault> private_file_fault(const std::filesystem::path& path);

// The text without the end of its last line, unless it has more than `limit` bytes.
std::string without_line_end(std::string text, std::size_t limit);

// The text of such a file without the end of its last line; reads at most `limit` + 1 bytes, so a longer text has more
// than `limit`. What is wrong otherwise; never says any of the contents. `content` is for the hint: "a file with …".
std::variant<std::string, Fault> read_private_file(const std::filesystem::path& path, std::size_t limit,
                                                   std::string_view content);

}  // namespace forelock::config
