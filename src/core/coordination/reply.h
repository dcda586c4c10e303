// The answers to requests: a code, and the requested data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordination/reply_code.h"

namespace forelock::coordination {

// A node's state as the server reports it (ZooKeeper's Stat, the fields that are used).
struct Stat {
  std::int64_t czxid = 0;            // the transaction that created the node
  std::int64_t mzxid = 0;            // the transaction that last set its data
  std::int64_t pzxid = 0;            // the transaction that last created or deleted a child
  std::int64_t ctime_ms = 0;         // wall clock of the server when the node was created, for people
  std::int64_t mtime_ms = 0;         // and when its data were last set
  std::int32_t version = 0;          // of the data: 0 at creation, +1 at each set
  std::int32_t cversion = 0;         // of the children, see created_children()
  std::int64_t ephemeral_owner = 0;  // the session, or 0
  std::int32_t data_length = 0;
  std::int32_t children = 0;

  // The number of children ever created under this node: the number of the next sequential child. The server reports
  // creations + deletions as cversion and the difference as children.
  std::int64_t created_children() const {
    return (static_cast<std::int64_t>(cversion) + static_cast<std::int64_t>(children)) / 2;
  }
};

// The result of one operation of a successful transaction.
struct OperationResult {
  std::string path;  // Create: the created node's path, with its sequence number
  Stat stat;         // SetData: the node's state after it
};

struct Reply {
  ReplyCode code = ReplyCode::ok;
  std::string path;                         // Create: as in OperationResult
  std::string data;                         // Get
  Stat stat;                                // Get, Exists, SetData, List (of the parent)
  std::vector<std::string> children;        // List: names, in no particular order
  std::vector<OperationResult> operations;  // Transaction, when ok: one for each operation, in order
  // Transaction, when the server has refused it: the first operation that it could not do.
  std::optional<std::size_t> refused_operation = {};

  bool ok() const { return code == ReplyCode::ok; }
};

}  // namespace forelock::coordination
