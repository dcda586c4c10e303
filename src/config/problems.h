// The problems of a configuration: of one value, of a whole file, and all of them together.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forelock/configuration_error.h"

namespace forelock::config {

// Why a value is refused: what is wrong, and what to do.
struct Fault {
  std::string message;
  std::string hint;
};

// Refuses a whole file: a ConfigurationException with a single problem that is about no key.
[[noreturn]] inline void fail(std::string_view file, int line, std::string message, std::string hint) {
  throw ConfigurationException({{std::string(file), line, "", std::move(message), std::move(hint)}});
}

// Collects what is wrong with a configuration, up to a limit, to report everything at once. Not thread-safe.
class Problems {
 public:
  // A corrupt file could have a hundred thousand, which is more than a person reads.
  static constexpr std::size_t limit = 100;

  void add(ConfigurationProblem problem) {
    if (!full()) problems_.push_back(std::move(problem));
  }

  bool full() const { return problems_.size() >= limit; }

  void throw_if_any() const {
    if (!problems_.empty()) throw ConfigurationException(problems_);
  }

 private:
  std::vector<ConfigurationProblem> problems_;
};

}  // namespace forelock::config
