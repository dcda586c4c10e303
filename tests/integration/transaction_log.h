// Everything that ever happened on a server, read from its transaction log: the judge that no client can deceive.
#pragma once

#include "support/standard.h"

namespace forelock::test {

struct LoggedOperation {
  enum class Kind { create, remove, set, other };
  Kind kind = Kind::other;
  std::string path;
  std::string data;
  bool ephemeral = false;
};

struct LoggedTransaction {
  std::int64_t zxid = 0;
  std::int64_t session = 0;
  bool closes_session = false;  // and removes its ephemeral nodes
  std::vector<LoggedOperation> operations;
};

// The log files of a server's `dataLogDir` in order. Throws std::runtime_error when they cannot be understood.
std::vector<LoggedTransaction> read_transaction_log(const std::filesystem::path& directory);

}  // namespace forelock::test
