// Commands to type next, ready to be copied.
#pragma once

#include <string>

#include "base/shell_word.h"
#include "cli/global_options.h"

namespace forelock::cli {

using base::shell_quoted;

// "forelock show P1", the id quoted where a shell would take it apart.
std::string show_hint(const std::string& monitor);

// "forelock dlq show ID".
std::string dead_letter_hint(const std::string& id);

// "--config F --zookeeper H --set K=V", each with a blank before it; the values of secrets left out.
std::string repeat_words(const GlobalOptions& globals);

}  // namespace forelock::cli
