// A WatchLedger counts the watches of a session that its client library would register again after a reconnect.
//
// It does so in one request, and a server refuses requests above 1 MiB (jute.maxbuffer) by cutting the connection: a
// session with more watches than that could never reconnect. So a watch is only requested while there is room.
//
// Pure; not synchronised.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

namespace forelock::lock {

class WatchLedger {
 public:
  enum class Kind : char { data = 'd', children = 'c' };

  // `root_bytes`: how much longer than here the paths are on the wire, by the chroot.
  WatchLedger(std::size_t limit, std::size_t root_bytes) : limit_(limit), root_bytes_(root_bytes) {}

  // Whether there is room for this watch.
  bool room(Kind kind, std::string_view path) const;
  // A request that sets this watch is about to be sent. False, and nothing is counted, if there is no room for it.
  bool reserve(Kind kind, std::string_view path);
  // The answer to a request with a reservation: whether the watch is set.
  void settle(Kind kind, std::string_view path, bool set);
  // The watch has fired, or was taken back.
  void remove(Kind kind, std::string_view path);
  // It was not taken back after all.
  void restore(Kind kind, std::string_view path);
  // The session has ended.
  void clear();

  // In bytes as on the wire, of what is set or may be soon.
  std::size_t bytes() const { return bytes_; }
  std::size_t count() const { return set_.size(); }
  // Many are set: one that another watch makes up for should not be set as well.
  bool filling() const { return bytes_ > limit_ / 4; }
  // Little room is left: watches that are kept for speed alone should be removed.
  bool nearly_full() const { return bytes_ > limit_ - limit_ / 4; }
  // Even less: the rest is for those without which a waiting contender would have to look at intervals.
  bool last_room() const { return bytes_ > limit_ - limit_ / 8; }

 private:
  std::size_t cost(std::string_view path) const { return path.size() + root_bytes_ + length_prefix; }
  static std::string key(Kind kind, std::string_view path);

  static constexpr std::size_t length_prefix = 4;

  const std::size_t limit_;
  const std::size_t root_bytes_;
  std::size_t bytes_ = 0;
  std::unordered_set<std::string> set_;
};

}  // namespace forelock::lock
