// Text of a user's file inside a message: on one line, of bounded length, in quotes; and the masking of secrets.
#pragma once

#include <string>
#include <string_view>

namespace forelock::config {

// Control characters become \xNN, and what is longer than about 60 bytes is cut: a message goes to terminals and logs.
std::string printable(std::string_view text);

// The same in single quotes.
std::string in_quotes(std::string_view text);

// Stands for a secret.
inline constexpr std::string_view mask = "******";

// Judged by the key alone, and rather too often than too seldom: passwords, secrets, tokens, private keys, and the
// librdkafka settings that hold several values in one, some of them secret.
bool is_secret(std::string_view key);

}  // namespace forelock::config
