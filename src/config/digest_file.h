// Reads credentials from a file of their own.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "config/problems.h"

namespace forelock::config {

// The one line `user:password` of a regular file that belongs to this process's user and that no other user can access.
// What is wrong otherwise; never says any of the contents.
std::variant<std::string, Fault> read_digest(const std::filesystem::path& path);

}  // namespace forelock::config
