// SeenTokens are the fencing tokens of holders as they were read, for as long as nothing has told that they changed.
//
// Each was read with a watch, and the session tells of a change before it answers what it is asked later. What it has
// lost its connection over counts no more. A server that is cut off tells of nothing: so whoever asks says how old an
// answer may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "lock/engine_types.h"

namespace forelock::client {

// Thread-safe.
class SeenTokens {
 public:
  // Beyond so many it begins anew.
  static constexpr std::size_t max_remembered = 1000;

  struct Seen {
    std::int64_t token = 0;
    lock::TimePoint asked{};
  };

  std::optional<Seen> find(const std::string& path) const;

  // Before a read with a watch is sent: for remember(), which does nothing if the connection has been lost meanwhile.
  std::uint64_t connection() const;
  // In the order in which the session tells, so before a change that comes after the read.
  void remember(const std::string& path, Seen seen, std::uint64_t connection);

  void changed(const std::string& path);
  void connection_changed();

 private:
  mutable std::mutex mutex_;
  std::uint64_t connection_ = 0;
  std::unordered_map<std::string, Seen> seen_;
};

}  // namespace forelock::client
