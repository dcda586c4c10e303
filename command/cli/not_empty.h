// An option that is given must say something: a script's variable that was never set must not count as "not given".
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace forelock::cli {

inline CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, "");
}

}  // namespace forelock::cli
