#include "grouping/request_traits.h"

#include <string>
#include <variant>

namespace forelock::grouping {

using coordination::Operation;
using coordination::Request;
using coordination::Transaction;

const std::string& path_of(const Operation& operation) {
  return std::visit([](const auto& one) -> const std::string& { return one.path; }, operation);
}

namespace {

// Of an operation on the wire beside its path and data: header, lengths, version or flags, access control list.
constexpr std::size_t operation_overhead = 64;

struct PathOf {
  std::string_view operator()(const Transaction& transaction) const {
    return transaction.operations.empty() ? std::string_view() : path_of(transaction.operations.front());
  }
  std::string_view operator()(const auto& request) const { return request.path; }
};

}  // namespace

std::string_view monitor_of(const Request& request) {
  std::string_view path = std::visit(PathOf(), request);
  if (!path.empty()) path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

std::size_t size_of(const Transaction& transaction, std::size_t root_bytes) {
  std::size_t bytes = 0;
  for (const Operation& operation : transaction.operations) {
    bytes += operation_overhead + root_bytes + path_of(operation).size();
    if (const auto* create = std::get_if<coordination::Create>(&operation)) bytes += create->data.size();
    if (const auto* set = std::get_if<coordination::SetData>(&operation)) bytes += set->data.size();
  }
  return bytes;
}

bool removes_monitors(const Request& request) {
  const auto* transaction = std::get_if<Transaction>(&request);
  if (transaction == nullptr || transaction->operations.empty()) return false;
  const auto* removal = std::get_if<coordination::Delete>(&transaction->operations.front());
  return removal != nullptr && removal->path.find('/', 1) == std::string::npos;
}

bool makes_monitor(const Transaction& transaction) {
  if (transaction.operations.empty()) return false;
  const auto* create = std::get_if<coordination::Create>(&transaction.operations.front());
  return create != nullptr && create->path.find('/', 1) == std::string::npos;
}

bool names_nodes(const Request& request) {
  if (std::holds_alternative<coordination::Delete>(request)) return true;
  const auto* transaction = std::get_if<Transaction>(&request);
  return transaction != nullptr && !makes_monitor(*transaction);
}

bool knocks(const Request& request) {
  const auto* transaction = std::get_if<Transaction>(&request);
  if (transaction == nullptr || transaction->operations.size() < 2) return false;
  const auto* create = std::get_if<coordination::Create>(&transaction->operations[0]);
  const auto* removal = std::get_if<coordination::Delete>(&transaction->operations[1]);
  return create != nullptr && removal != nullptr && create->path == removal->path;
}

}  // namespace forelock::grouping
