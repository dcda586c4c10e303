// Doubts about a settings file: what it may not mean as it stands.
#pragma once

#include <string>

#include "cli/output/console.h"

namespace forelock::cli {

// Warns of keys of a settings file that are left to the application, but look like misspelt ones of ours. \param
// file one that has been loaded; what can be read once alone, a FIFO say, is left.
void note_doubts(const std::string& file, const Console& console);

}  // namespace forelock::cli
