// The whole program behind main.
#pragma once

#include <string>
#include <vector>

namespace forelock::cli {

// Parses, runs one command, reports what went wrong. `arguments` without the program's name. \returns the exit code.
int run_program(const std::vector<std::string>& arguments);

}  // namespace forelock::cli
