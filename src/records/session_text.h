// A session's id as printed here and in the server's logs.
#pragma once

#include <cstdint>
#include <string>

namespace forelock::records {

// "0x" and hexadecimal digits.
std::string session_text(std::int64_t session);

}  // namespace forelock::records
