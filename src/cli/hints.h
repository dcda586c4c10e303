// The next command to type, ready to be copied.
#pragma once

#include <string>

namespace forelock::cli {

// "forelock show P1", the id quoted where a shell would take it apart.
std::string show_hint(const std::string& monitor);

// "forelock dlq show ID".
std::string dead_letter_hint(const std::string& id);

// One word of a command line, quoted where a shell would take it apart.
std::string shell_quoted(const std::string& text);

}  // namespace forelock::cli
