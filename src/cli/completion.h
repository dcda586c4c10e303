// Completion scripts for shells.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace forelock::cli {

std::string bash_completion(const CommandEntry& root);
std::string zsh_completion(const CommandEntry& root);
std::string fish_completion(const CommandEntry& root);

}  // namespace forelock::cli
