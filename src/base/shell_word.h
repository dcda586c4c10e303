// Words of a command line that people copy into a shell.
#pragma once

#include <string>

namespace forelock::base {

// One word, quoted where a shell would split it.
std::string shell_quoted(const std::string& text);

// The same as a positional argument: behind "-- " where it would look like an option.
std::string shell_argument(const std::string& text);

}  // namespace forelock::base
