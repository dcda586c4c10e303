// The letters that a replay has read and not yet tried: one queue for each monitor.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "drain/letter_store.h"

namespace forelock::drain {

// Not thread-safe; without I/O, threads or a clock. Letters of one monitor are handed out one at a time and in the
// order in which they came. Memory: at most max_letters and about max_bytes, and the names of blocked monitors.
class LookAhead {
 public:
  static constexpr std::size_t max_letters = 4096;
  static constexpr std::size_t max_bytes = 16 * 1024 * 1024;

  // Whether another letter fits. One always fits when there is none.
  bool has_room_for(const StoredLetter& letter) const;
  // To be asked has_room_for() and is_blocked() before.
  void add(StoredLetter letter);

  // The next letter of the monitor that has been ready for longest, if there is one. Its monitor is busy until
  // finish() or block().
  std::optional<StoredLetter> take();
  bool can_take() const { return !ready_.empty(); }

  // The letter that was taken is done with: the next of its monitor may go.
  void finish(const StoredLetter& taken);
  // The letter that was taken stands in the way: no other of its monitor may go any more.
  // \returns those that waited behind it.
  std::vector<StoredLetter> block(const StoredLetter& taken);
  bool is_blocked(const std::string& monitor) const { return blocked_.contains(monitor); }

  // Neither a letter that waits nor one that was taken and not finished.
  bool empty() const { return lines_.empty(); }
  std::size_t waiting() const { return letters_; }

 private:
  struct Line {
    std::deque<StoredLetter> waiting;
    bool busy = false;
  };

  static std::size_t size_of(const StoredLetter& letter);

  std::unordered_map<std::string, Line> lines_;  // those that have a letter, waiting or taken
  std::deque<std::string> ready_;                // not busy, and with a letter that waits
  std::unordered_set<std::string> blocked_;
  std::size_t letters_ = 0;  // waiting
  std::size_t bytes_ = 0;    // of those, and of those taken
};

}  // namespace forelock::drain
