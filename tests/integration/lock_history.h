// The history of one monitor, replayed from the server's transaction log, and the rules that it must obey.
#pragma once

#include "integration/transaction_log.h"

namespace forelock::test {

// In an owner record; empty if there is none.
std::string guid_in(const std::string& record);

class LockHistory {
 public:
  // `monitor` is the node's path.
  LockHistory(const std::vector<LoggedTransaction>& log, std::string monitor);

  // Whether, at the transaction of a grant, somebody was in the queue who goes before the holder: of a higher class, or
  // of the same class and enqueued earlier. Described, or empty if the grant is just. For holders with an owner record.
  std::string injustice(std::int64_t token) const;
  // How many of the classes' contenders were in the queue at the grant, the holder not counted.
  std::size_t waiting(std::int64_t token, char prefix) const;
  // The transaction that put the holder of this grant into the queue; 0 if it has no node.
  std::int64_t enqueued(std::int64_t token) const;
  // Removals of privateLock by a session that did not own it.
  const std::vector<std::string>& stolen() const { return stolen_; }
  // The contenders and privateLock that are there at the end.
  std::vector<std::string> left_over() const;

 private:
  struct Node {
    std::string guid;
    std::int64_t session = 0;
    std::int64_t created = 0;
  };
  using Children = std::map<std::string, Node>;

  const std::string path_;
  std::map<std::int64_t, Children> states_;  // after each transaction that changed privateLock
  std::vector<std::string> stolen_;
  Children last_;
};

}  // namespace forelock::test
