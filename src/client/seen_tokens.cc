#include "client/seen_tokens.h"

namespace forelock::client {

std::optional<SeenTokens::Seen> SeenTokens::find(const std::string& path) const {
  const std::lock_guard guard(mutex_);
  const auto found = seen_.find(path);
  return found == seen_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t SeenTokens::connection() const {
  const std::lock_guard guard(mutex_);
  return connection_;
}

void SeenTokens::remember(const std::string& path, Seen seen, std::uint64_t connection) {
  const std::lock_guard guard(mutex_);
  if (connection != connection_) return;
  if (seen_.size() >= max_remembered && !seen_.contains(path)) seen_.clear();
  seen_[path] = seen;
}

void SeenTokens::changed(const std::string& path) {
  const std::lock_guard guard(mutex_);
  seen_.erase(path);
}

void SeenTokens::connection_changed() {
  const std::lock_guard guard(mutex_);
  ++connection_;
  seen_.clear();
}

}  // namespace forelock::client
