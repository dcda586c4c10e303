#include "forelock/configuration_error.h"

#include <utility>

namespace forelock {
namespace {

std::string joined(const std::vector<ConfigurationProblem>& problems) {
  std::string text;
  for (const ConfigurationProblem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += to_string(problem);
  }
  return text;
}

}  // namespace

std::string to_string(const ConfigurationProblem& problem) {
  std::string text = problem.file;
  if (problem.line > 0) text += ':' + std::to_string(problem.line);
  if (!text.empty()) text += ": ";
  if (!problem.key.empty()) text += problem.key + ": ";
  text += problem.message;
  if (!problem.hint.empty()) text += ", " + problem.hint;
  return text;
}

ConfigurationException::ConfigurationException(std::vector<ConfigurationProblem> problems)
    : Error(ErrorCode::configuration, {}, joined(problems)),
      problems_(std::make_shared<const std::vector<ConfigurationProblem>>(std::move(problems))) {}

ConfigurationException::~ConfigurationException() = default;

}  // namespace forelock
