#include "integration/lock_history.h"

namespace forelock::test {
namespace {

constexpr const char* private_lock = "privateLock";

}  // namespace

std::string guid_in(const std::string& record) {
  const std::string key = "\"guid\":\"";
  const auto begin = record.find(key);
  if (begin == std::string::npos) return {};
  const auto end = record.find('"', begin + key.size());
  return record.substr(begin + key.size(), end - begin - key.size());
}

LockHistory::LockHistory(const std::vector<LoggedTransaction>& log, std::string monitor) : path_(std::move(monitor)) {
  const std::string below = path_ + "/";
  Children children;
  for (const LoggedTransaction& transaction : log) {
    bool lock_changed = false;
    if (transaction.closes_session) {
      std::erase_if(children, [&](const auto& child) { return child.second.session == transaction.session; });
    }
    for (const LoggedOperation& operation : transaction.operations) {
      if (!operation.path.starts_with(below)) continue;
      const std::string name = operation.path.substr(below.size());
      lock_changed |= name == private_lock;
      switch (operation.kind) {
        case LoggedOperation::Kind::create:
          children[name] = {guid_in(operation.data), transaction.session, transaction.zxid};
          break;
        case LoggedOperation::Kind::set:
          children[name].guid = guid_in(operation.data);
          break;
        case LoggedOperation::Kind::remove:
          if (name == private_lock && children[name].session != transaction.session) {
            stolen_.push_back("zxid " + std::to_string(transaction.zxid) +
                              " removed the privateLock of another session");
          }
          children.erase(name);
          break;
        case LoggedOperation::Kind::other:
          break;
      }
    }
    if (lock_changed) states_[transaction.zxid] = children;
  }
  last_ = std::move(children);
}

std::string LockHistory::injustice(std::int64_t token) const {
  const auto state = states_.find(token);
  if (state == states_.end()) return "token " + std::to_string(token) + " is no transaction of this lock";
  const auto lock = state->second.find(private_lock);
  if (lock == state->second.end()) return "token " + std::to_string(token) + ": nobody holds the lock";
  // Names have ten digits, so their order is the order of the queue.
  for (const auto& [name, node] : state->second) {
    if (node.guid == lock->second.guid) return {};
    if (name < private_lock)
      return "token " + std::to_string(token) + ": " + name + " was in the queue before the holder";
  }
  return "token " + std::to_string(token) + ": the holder has no node";
}

std::size_t LockHistory::waiting(std::int64_t token, char prefix) const {
  const auto state = states_.find(token);
  if (state == states_.end()) return 0;
  const auto lock = state->second.find(private_lock);
  return static_cast<std::size_t>(std::count_if(state->second.begin(), state->second.end(), [&](const auto& child) {
    return child.first.front() == prefix && (lock == state->second.end() || child.second.guid != lock->second.guid);
  }));
}

std::int64_t LockHistory::enqueued(std::int64_t token) const {
  const auto state = states_.find(token);
  if (state == states_.end()) return 0;
  const auto lock = state->second.find(private_lock);
  for (const auto& [name, node] : state->second) {
    if (lock != state->second.end() && name != private_lock && node.guid == lock->second.guid) return node.created;
  }
  return 0;
}

std::vector<std::string> LockHistory::left_over() const {
  std::vector<std::string> names;
  for (const auto& [name, node] : last_) names.push_back(name);
  return names;
}

}  // namespace forelock::test
