// The next command to type, ready to be copied.
#pragma once

#include <string>

namespace forelock::cli {

// "forelock show P1", the id quoted where a shell would take it apart.
std::string show_hint(const std::string& monitor);

}  // namespace forelock::cli
