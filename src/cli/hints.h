// Commands to type next, ready to be copied.
#pragma once

#include <string>

#include "cli/global_options.h"

namespace forelock::cli {

// "forelock show P1", the id quoted where a shell would take it apart.
std::string show_hint(const std::string& monitor);

// "forelock dlq show ID".
std::string dead_letter_hint(const std::string& id);

// One word of a command line, quoted where a shell would take it apart.
std::string shell_quoted(const std::string& text);

// "--config F --zookeeper H --set K=V", each with a blank before it; the values of secrets left out.
std::string repeat_words(const GlobalOptions& globals);

}  // namespace forelock::cli
