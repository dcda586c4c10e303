#include "grouping/folding.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "grouping/mutation.h"

namespace forelock::grouping {

using coordination::Create;
using coordination::Operation;
using coordination::OperationResult;
using coordination::SetData;
using coordination::Transaction;

namespace {

bool writes_what_is_created(const Operation& first, const Operation& second) {
  const auto* create = std::get_if<Create>(&first);
  const auto* write = std::get_if<SetData>(&second);
  return create != nullptr && write != nullptr && create->data.empty() && create->path == write->path &&
         create->mode != coordination::CreateMode::ephemeral_sequential && write->version == coordination::any_version;
}

}  // namespace

std::optional<std::size_t> foldable(const Transaction& transaction) {
  const auto& operations = transaction.operations;
  const auto found = std::adjacent_find(operations.begin(), operations.end(), writes_what_is_created);
  if (found == operations.end()) return std::nullopt;
  return static_cast<std::size_t>(found - operations.begin());
}

void append_folded(const Transaction& transaction, std::optional<std::size_t> folded,
                   std::vector<Operation>& operations) {
  for (std::size_t i = 0; i < transaction.operations.size(); ++i) {
    operations.push_back(transaction.operations[i]);
    if (i != folded) continue;
    std::get<Create>(operations.back()).data = std::get<SetData>(transaction.operations[++i]).data;
  }
}

std::int64_t number_of(const std::vector<OperationResult>& results) {
  std::int64_t number = 0;
  for (const OperationResult& result : results) number = std::max(number, result.stat.mzxid);
  return number;
}

void unfold(std::vector<OperationResult>& results, std::size_t folded, std::int64_t number) {
  OperationResult write;
  write.stat.czxid = write.stat.mzxid = number;
  write.stat.version = mutated(Mutation::folded_version_wrong) ? 1 : 0;
  results.insert(results.begin() + static_cast<std::ptrdiff_t>(folded) + 1, std::move(write));
}

}  // namespace forelock::grouping
