/// \file
/// The caller's own ZooKeeper operations in a guarded write: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace forelock {

/// Matches every data version.
inline constexpr std::int32_t any_version = -1;

/// Creates a persistent node. Refused if it exists or its parent does not.
struct CreateNode {
  std::string path;  ///< absolute
  std::string data;  ///< at most the server's limit, 1 MiB by default
};

/// Replaces a node's data. Refused if the node is missing or its data version differs.
struct SetNode {
  std::string path;                    ///< absolute
  std::string data;                    ///< at most the server's limit, 1 MiB by default
  std::int32_t version = any_version;  ///< the data version that the node must have
};

/// Deletes a node. Refused if it is missing, has children, or its data version differs.
struct DeleteNode {
  std::string path;                    ///< absolute
  std::int32_t version = any_version;  ///< the data version that the node must have
};

/// Changes nothing; refused if the node is missing or its data version differs.
struct CheckNode {
  std::string path;                    ///< absolute
  std::int32_t version = any_version;  ///< the data version that the node must have
};

/// One of them.
using WriteOperation = std::variant<CreateNode, SetNode, DeleteNode, CheckNode>;

/// The result of a committed operation.
struct WriteResult {
  std::int32_t version = 0;  ///< SetNode: the node's new data version
};

}  // namespace forelock
