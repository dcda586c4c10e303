// A terminal that shows one text, again and again.
#pragma once

#include <string>
#include <string_view>

namespace forelock::cli {

// What to write so that the terminal shows `text` below the time of day: from the top, clearing what is left over, so
// that nothing flickers.
std::string redrawn(std::string_view text);

}  // namespace forelock::cli
