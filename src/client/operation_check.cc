#include "client/operation_check.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "lock/monitor_name.h"
#include "records/guid.h"
#include "retry/backoff.h"
#include "retry/retry_budget.h"

namespace forelock::client {
namespace {

using retry::Backoff;
using retry::RetryBudget;

constexpr std::size_t largest_max_operations = 1'000'000;

[[noreturn]] void reject(const Operation& operation, const std::string& message, const std::string& hint) {
  throw RequestRejectedException(ErrorCode::invalid_argument, operation.monitor, message, hint);
}

bool printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char letter) { return letter >= ' ' && letter <= '~'; });
}

// `what` names the field: "the operation's type".
void check_text(const Operation& operation, const std::string& what, std::string_view text) {
  if (text.size() > Operation::max_id_bytes) {
    reject(operation, what + " has " + std::to_string(text.size()) + " bytes",
           "at most " + std::to_string(Operation::max_id_bytes) + " are possible");
  }
  if (!printable_ascii(text)) {
    reject(operation, what + " has characters that are not printable ASCII",
           "use the characters from space to '~' alone: it travels in record headers and log lines");
  }
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char digit) { return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'); });
}

bool all_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

// https://www.w3.org/TR/trace-context/: version, trace id, parent id, flags; later versions may append more.
bool is_traceparent(std::string_view text) {
  constexpr std::size_t length = 55;
  if (text.size() < length || text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, 32);
  const std::string_view parent = text.substr(36, 16);
  if (!is_hex(version) || !is_hex(trace) || !is_hex(parent) || !is_hex(text.substr(53, 2))) return false;
  if (version == "ff" || all_zero(trace) || all_zero(parent)) return false;
  if (text.size() == length) return true;
  return version != "00" && text[length] == '-';
}

void check_traceparent(const Operation& operation) {
  const std::string& text = operation.traceparent;
  if (text.empty()) return;
  check_text(operation, "the operation's traceparent", text);
  if (is_traceparent(text)) return;
  reject(operation, "the operation's traceparent is none",
         "it looks like 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01, or leave it empty");
}

[[noreturn]] void reject_option(const std::string& message) {
  throw RequestRejectedException(ErrorCode::invalid_argument, {}, message, "see forelock/operation_runner.h");
}

}  // namespace

Operation checked(Operation operation) {
  if (operation.id.empty()) operation.id = records::make_guid();
  check_text(operation, "the operation's id", operation.id);
  if (operation.type.empty()) {
    reject(operation, "the operation has no type", "say what kind of operation it is, such as \"saveContent\"");
  }
  check_text(operation, "the operation's type", operation.type);
  if (const auto name = lock::encode_monitor_name(operation.monitor); !name) {
    reject(operation, "the operation's monitor id " + std::string(name.problem),
           "ids are UTF-8 text of 1 to 255 bytes after encoding");
  }
  if (operation.payload.size() > Operation::max_payload_bytes) {
    throw RequestRejectedException(ErrorCode::request_too_large, operation.monitor,
                                   "the operation's payload has " + std::to_string(operation.payload.size()) +
                                       " bytes; at most " + std::to_string(Operation::max_payload_bytes) +
                                       " are possible",
                                   "keep it in a store, and its address in the payload");
  }
  if (operation.lock_info.empty()) operation.lock_info = operation.type;
  if (operation.lock_info.size() > Operation::max_lock_info_bytes) {
    reject(operation, "the operation's lock_info has " + std::to_string(operation.lock_info.size()) + " bytes",
           "a short text for people, at most " + std::to_string(Operation::max_lock_info_bytes) + " bytes");
  }
  check_traceparent(operation);
  return operation;
}

void check(const OperationRunnerOptions& options) {
  const BackoffOptions& backoff = options.backoff;
  if (backoff.initial < std::chrono::milliseconds(1) || backoff.cap < backoff.initial || backoff.cap > Backoff::longest)
    reject_option("backoff: the initial bound is at least 1 ms, and the cap at least that and at most 24 hours");
  const RetryBudgetOptions& budget = options.budget;
  if (budget.burst < 1 || budget.burst > RetryBudget::largest_burst)
    reject_option("budget: a bucket holds 1 to 1000000 tokens, not " + std::to_string(budget.burst));
  // Put so that a number that is none fails too.
  if (!(budget.retries_per_second >= RetryBudget::slowest && budget.retries_per_second <= RetryBudget::fastest))
    reject_option("budget: 0.001 to 1000000 retries per second are possible");
  if (options.max_operations < 1 || options.max_operations > largest_max_operations)
    reject_option("max_operations: 1 to 1000000, not " + std::to_string(options.max_operations));
}

}  // namespace forelock::client
