#include "lock/watch_ledger.h"

namespace forelock::lock {

std::string WatchLedger::key(Kind kind, std::string_view path) {
  std::string key;
  key.reserve(path.size() + 1);
  return key.append(1, static_cast<char>(kind)).append(path);
}

bool WatchLedger::room(Kind kind, std::string_view path) const {
  return bytes_ + cost(path) <= limit_ || set_.contains(key(kind, path));
}

bool WatchLedger::reserve(Kind kind, std::string_view path) {
  // A watch that is set is counted again until the answer: which of the two comes to stand is not known before.
  if (!room(kind, path)) return false;
  bytes_ += cost(path);
  return true;
}

void WatchLedger::settle(Kind kind, std::string_view path, bool set) {
  if (!set || !set_.insert(key(kind, path)).second) bytes_ -= cost(path);
}

void WatchLedger::remove(Kind kind, std::string_view path) {
  if (set_.erase(key(kind, path)) > 0) bytes_ -= cost(path);
}

void WatchLedger::restore(Kind kind, std::string_view path) {
  if (set_.insert(key(kind, path)).second) bytes_ += cost(path);
}

void WatchLedger::clear() {
  set_.clear();
  bytes_ = 0;
}

}  // namespace forelock::lock
