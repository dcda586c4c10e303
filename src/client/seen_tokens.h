// SeenTokens are fencing tokens of holders as read, valid until a change is reported.
//
// Each was read with a watch, and the session reports a change before it answers a later request. Tokens read over a
// lost connection are invalid. A server that is cut off reports nothing, so the caller sets the largest age of an
// answer.
//
// The watches stay with the client library until they fire or the session ends, and it registers them again with each
// connection, in one request with the engine's (lock::WatchLedger). So their number is limited.
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
  // Of the watches, as on the wire but for the chroot. A server takes 1 MiB; the engine's have 768 KiB.
  static constexpr std::size_t max_bytes = 64 * 1024;
  static constexpr std::size_t watch_bytes = 64;  // what one takes besides its path, at most

  struct Seen {
    std::int64_t token = 0;
    lock::TimePoint asked{};
  };

  std::optional<Seen> find(const std::string& path) const;

  struct Reading {
    bool watch = false;  // whether it may leave a watch; without one it is not remembered
    std::uint64_t connection = 0;
    std::uint64_t session = 0;
  };
  // A read is about to be sent.
  Reading begin(const std::string& path);
  // Its end, in the order in which the session tells, so before a change that comes after it. Nothing: it has left no
  // watch.
  void end(const std::string& path, const Reading& reading, std::optional<Seen> seen);

  void changed(const std::string& path);
  void connection_changed();
  // The watches are gone with it.
  void session_ended();

 private:
  struct Watched {
    std::optional<Seen> seen;      // what has not changed since
    std::uint64_t connection = 0;  // over which that was read
    bool set = false;              // by a read that has ended
    unsigned readings = 0;         // under way
  };
  using Entries = std::unordered_map<std::string, Watched>;

  static std::size_t cost(const std::string& path) { return path.size() + watch_bytes; }
  void erase_unused(Entries::iterator entry);

  mutable std::mutex mutex_;
  std::uint64_t connection_ = 0;
  std::uint64_t session_ = 0;
  std::size_t bytes_ = 0;
  Entries watched_;
};

}  // namespace forelock::client
