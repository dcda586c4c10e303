/// \file
/// The exception for an invalid configuration: every problem found, each with its place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "forelock/error.h"
#include "forelock/export.h"

namespace forelock {

/// One thing that is wrong with a configuration. Never contains the value of a secret.
struct ConfigurationProblem {
  std::string file;     ///< the file, or the origin of an override such as "--set"
  int line = 0;         ///< 1-based, 0 where there is no line
  std::string key;      ///< as it is spelt in the file; empty where the problem is not about one key
  std::string message;  ///< the problem
  std::string hint;     ///< the next step; may be empty
};

/// "FILE:LINE: key: what, what to do", on one line, without the parts that are empty.
FORELOCK_EXPORT std::string to_string(const ConfigurationProblem& problem);

/// A configuration was refused (ErrorCode::configuration). `what()` has one line for each problem.
class FORELOCK_EXPORT ConfigurationException : public Error {
 public:
  /// `problems` must not be empty.
  explicit ConfigurationException(std::vector<ConfigurationProblem> problems);
  ~ConfigurationException() override;

  /// Every problem, in the order of the file. Valid as long as this exception or a copy of it.
  const std::vector<ConfigurationProblem>& problems() const noexcept { return *problems_; }

 private:
  std::shared_ptr<const std::vector<ConfigurationProblem>> problems_;  // shared: copying an exception must not throw
};

}  // namespace forelock
