// Sizes as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace forelock::cli {

// "512 bytes", "12.3 KiB", "256 MiB".
std::string size_text(std::uint64_t bytes);

}  // namespace forelock::cli
