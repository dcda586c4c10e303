// The operations that the lock protocol needs of a coordination server: a small part of ZooKeeper's.
//
// Paths are absolute inside the client's namespace (its chroot is the root "/") and valid for the server: the builder
// of a path encodes names (lock/monitor_name.h). Data are opaque bytes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace forelock::coordination {

inline constexpr std::int32_t any_version = -1;

enum class CreateMode {
  persistent,
  container,            // the server removes it some time after its last child is gone; persistent where unsupported
  ephemeral,            // lives as long as the session that created it
  ephemeral_sequential  // as before; the server appends the parent's create counter, ten digits
};

// Node of the given path. `container` is not possible inside a Transaction (the server would make it persistent).
struct Create {
  std::string path;
  std::string data;
  CreateMode mode = CreateMode::persistent;
};

struct Delete {
  std::string path;
  std::int32_t version = any_version;
};

struct SetData {
  std::string path;
  std::string data;
  std::int32_t version = any_version;
};

// Succeeds when the node exists and has this data version. Only inside a Transaction.
struct Check {
  std::string path;
  std::int32_t version = any_version;
};

// `watch` leaves a one-shot watch behind: on the node's data and deletion (Get, and Exists also on its creation) or on
// its children and deletion (List). Get and List set no watch when the node does not exist.
struct Get {
  std::string path;
  bool watch = false;
};

struct Exists {
  std::string path;
  bool watch = false;
};

struct List {
  std::string path;
  bool watch = false;
};

// Makes the server that answers catch up with the leader before this session's next read.
struct Sync {
  std::string path;
};

// Takes back the data watch of a path, if there is one.
struct RemoveDataWatch {
  std::string path;
};

using Operation = std::variant<Create, Delete, SetData, Check>;

// All of the operations at one zxid, or none of them.
struct Transaction {
  std::vector<Operation> operations;
  // Whether it may share a request with others (grouping/): it is expected to succeed, and the next request of its
  // monitor waits for the answer anyway.
  bool groupable = false;
  // Goes before those that are not, of other monitors, where it has to wait for its turn.
  bool urgent = false;
};

using Request = std::variant<Create, Delete, SetData, Get, Exists, List, Sync, RemoveDataWatch, Transaction>;

}  // namespace forelock::coordination
