// Recognises settings that must not be shown.
#pragma once

#include <string_view>

namespace forelock::config {

inline constexpr std::string_view mask = "******";

// Judged by the key alone, and rather too often than too seldom: passwords, secrets, tokens, private keys, and the
// librdkafka settings that hold several values in one, some of them secret.
bool is_secret(std::string_view key);

}  // namespace forelock::config
