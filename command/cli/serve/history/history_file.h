// A HistoryFile keeps holds and waits in an SQLite file of bounded age and size.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/serve/history/stay.h"
#include "cli/serve/history/stay_tracker.h"
#include "cli/serve/history/wait_plot.h"
#include "outbox/sqlite.h"

namespace forelock::cli {

struct HistoryLimits {
  std::chrono::milliseconds keep = std::chrono::hours(7 * 24);  // what ended before is removed
  std::int64_t size = 256 * 1024 * 1024;                        // of the file; the oldest is removed before
};

// Why the file cannot be used, and what to do. Nothing is changed then.
class HistoryProblem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Not thread-safe. Of one process at a time: SQLite's lock is kept as long as it is open.
class HistoryFile {
 public:
  // Opens it, or makes it with mode 0600. \throws HistoryProblem
  HistoryFile(std::filesystem::path path, const HistoryLimits& limits);

  // The first id that none has.
  std::int64_t next_id();
  // What was not seen to end, at most this many of the newest: the others are ended, unseen.
  std::vector<Stay> open(std::size_t most);
  // Nothing in a new file.
  std::optional<WallTime> last_look();

  // Writes, or writes again, in one transaction; removes what is too old, where `now` says what that is, or too much.
  // \throws HistoryProblem, and has written nothing then.
  void write(const std::vector<Stay>& stays, const std::optional<StayTracker::Watch>& watched,
             std::optional<WallTime> now);

  struct Found {
    std::vector<Stay> stays;  // the newest first
    bool more = false;        // there are others
    std::vector<StayTracker::Watch> watched;
  };
  // All of a monitor that overlap this span. \throws HistoryProblem
  Found find(const std::string& monitor, WallTime from, WallTime to, std::size_t most);
  // The waits for a monitor that ended with the lock in this span, the latest first. \throws HistoryProblem
  std::vector<GrantedWait> waits(const std::string& monitor, WallTime from, WallTime to, std::size_t most);
  // The holds of a monitor in this span, the latest first. \throws HistoryProblem
  std::vector<SeenHold> holds(const std::string& monitor, WallTime from, WallTime to, std::size_t most);

 private:
  template <class Fn>
  auto guarded(const char* doing, Fn fn);
  void set_up();
  void remove_old(std::optional<WallTime> now);
  void remove_much();
  void remove_stacks();
  // Its id in the file; nothing if it is empty.
  std::optional<std::int64_t> stack_id(const std::vector<std::string>& stack);

  const std::filesystem::path path_;
  const HistoryLimits limits_;
  std::optional<outbox::Connection> connection_;
  std::optional<WallTime> next_stacks_;
};

}  // namespace forelock::cli
