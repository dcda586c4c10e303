#include "client/seen_tokens.h"

namespace forelock::client {

std::optional<SeenTokens::Seen> SeenTokens::find(const std::string& path) const {
  const std::lock_guard guard(mutex_);
  const auto found = watched_.find(path);
  if (found == watched_.end() || found->second.connection != connection_) return std::nullopt;
  return found->second.seen;
}

SeenTokens::Reading SeenTokens::begin(const std::string& path) {
  const std::lock_guard guard(mutex_);
  auto found = watched_.find(path);
  if (found == watched_.end()) {
    if (bytes_ + cost(path) > max_bytes) return {};
    found = watched_.emplace(path, Watched()).first;
    bytes_ += cost(path);
  }
  ++found->second.readings;
  return {.watch = true, .connection = connection_, .session = session_};
}

void SeenTokens::end(const std::string& path, const Reading& reading, std::optional<Seen> seen) {
  const std::lock_guard guard(mutex_);
  if (!reading.watch || reading.session != session_) return;
  const auto entry = watched_.find(path);
  Watched& watched = entry->second;
  --watched.readings;
  if (seen) {
    watched.set = true;
    watched.seen = seen;
    watched.connection = reading.connection;
  }
  erase_unused(entry);
}

void SeenTokens::changed(const std::string& path) {
  const std::lock_guard guard(mutex_);
  const auto entry = watched_.find(path);
  if (entry == watched_.end()) return;
  entry->second.seen.reset();
  entry->second.set = false;
  erase_unused(entry);
}

void SeenTokens::connection_changed() {
  const std::lock_guard guard(mutex_);
  ++connection_;
}

void SeenTokens::session_ended() {
  const std::lock_guard guard(mutex_);
  ++connection_;
  ++session_;
  bytes_ = 0;
  watched_.clear();
}

void SeenTokens::erase_unused(Entries::iterator entry) {
  if (entry->second.set || entry->second.readings > 0) return;
  bytes_ -= cost(entry->first);
  watched_.erase(entry);
}

}  // namespace forelock::client
