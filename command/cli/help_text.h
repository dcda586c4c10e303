// Help texts as wide as the terminal.
#pragma once

#include <string>
#include <string_view>

namespace forelock::cli {

// Breaks lines of more than `columns` at blanks; what follows is indented as the line's description is, or the line.
// 0 columns: the text as it is.
std::string fitted_help(std::string_view help, std::size_t columns);

}  // namespace forelock::cli
