// Reads credentials from a file of their own.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "config/problems.h"

namespace forelock::config {

// The one line `user:password` of a private file (config/private_file.h).
// What is wrong otherwise; never says any of the contents.
std::variant<std::string, Fault> read_digest(const std::filesystem::path& path);

}  // namespace forelock::config
