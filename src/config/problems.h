// Collects what is wrong with a configuration, up to a limit, to report everything at once.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "forelock/configuration_error.h"

namespace forelock::config {

class Problems {
 public:
  // A hostile or foreign file could have a hundred thousand: nobody reads so many.
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
