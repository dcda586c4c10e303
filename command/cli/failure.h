// Why a command could not do what it was asked for.
#pragma once

#include <exception>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "forelock/configuration_error.h"

namespace forelock::cli {

struct Failure {
  int exit_code = 0;
  std::string code;  // stable, for programs: name_of(ErrorCode), or one of the command line's own
  std::string message;
  std::string hint;     // what to do next; may be empty
  std::string monitor;  // may be empty
  bool retryable = false;
  std::vector<ConfigurationProblem> problems;                  // of a configuration
  std::shared_ptr<const nlohmann::ordered_json> details = {};  // more members of the error's JSON; may be nothing
};

// Carries a Failure up to main.
class FailureException : public std::exception {
 public:
  explicit FailureException(Failure failure) : failure_(std::move(failure)) {}
  const char* what() const noexcept override { return failure_.message.c_str(); }
  const Failure& failure() const noexcept { return failure_; }

 private:
  Failure failure_;
};

// An invalid command line.
[[noreturn]] void throw_usage(std::string message, std::string hint = {});

// What any exception means for the command line.
Failure failure_of(const std::exception_ptr& error);

}  // namespace forelock::cli
