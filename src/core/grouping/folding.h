// Folding: a node that a transaction creates empty and writes at once is created with its data instead, which is an
// operation less for the server.
//
// This loses the answer to the write, which has the transaction's number (zxid). A group is one transaction with one
// number, so one member that keeps its write suffices.
//
// Pure. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "coordination/reply.h"
#include "coordination/request.h"

namespace forelock::grouping {

// Which operation creates a node that the next one writes, without regard to its version.
std::optional<std::size_t> foldable(const coordination::Transaction& transaction);

// Appends the operations; those at `folded` and behind it as one.
void append_folded(const coordination::Transaction& transaction, std::optional<std::size_t> folded,
                   std::vector<coordination::Operation>& operations);

// The number of the transaction with these results: that of its last write; 0 if it has none.
std::int64_t number_of(const std::vector<coordination::OperationResult>& results);

// Adds to the results of a folded transaction that of the write.
void unfold(std::vector<coordination::OperationResult>& results, std::size_t folded, std::int64_t number);

}  // namespace forelock::grouping
