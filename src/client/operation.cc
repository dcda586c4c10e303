#include "forelock/operation.h"

#include <algorithm>
#include <utility>

namespace forelock {
namespace {

constexpr std::size_t max_code_bytes = 64;

constexpr bool belongs_in_code(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
}

// A failure must not be lost because its code is misspelt.
std::string usable_code(std::string code) {
  if (code.empty()) return std::string(name_of(ErrorCode::handler_failed));
  code.resize(std::min(code.size(), max_code_bytes));
  for (char& letter : code) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (!belongs_in_code(letter)) letter = '_';
  }
  return code;
}

}  // namespace

OperationFailure::OperationFailure(std::string code, const std::string& message, bool retryable)
    : std::runtime_error(message), code_(usable_code(std::move(code))), retryable_(retryable) {}

OperationFailure::~OperationFailure() = default;

}  // namespace forelock
