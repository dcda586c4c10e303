// Files that settings name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "config/option.h"
#include "config/problems.h"
#include "forelock/settings.h"

namespace forelock::config {

// What was read of the file of this setting, if it has no more than `limit` bytes. Throws ConfigurationException with
// the setting's origin otherwise.
std::string text_of_setting(const Settings& settings, OptionId id, std::variant<std::string, Fault> text,
                            std::size_t limit, const std::filesystem::path& path);

// What the program has given in place of this setting's file, or the text of that, which is to be private
// (config/private_file.h, with the same bounds).
std::variant<std::string, Fault> read_secret(const Settings& settings, OptionId id, std::size_t limit,
                                             std::string_view content);

// The one line `user:password`. What is wrong otherwise; never says any of the contents.
std::variant<std::string, Fault> read_digest(const Settings& settings);

// The one line that is the password of this setting. Throws ConfigurationException, without any of the contents.
std::string read_password(const Settings& settings, OptionId id, std::string_view content);

}  // namespace forelock::config
