// The next command to type, with the options for every command that this one had.
#pragma once

#include <string>

#include "cli/global_options.h"

namespace forelock::cli {

// "--config F --zookeeper H --set K=V", each with a blank before it; the values of secrets left out.
std::string repeat_words(const GlobalOptions& globals);

}  // namespace forelock::cli
