// The times that each kind of work has waited for its locks.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace forelock::demo {

using Clock = std::chrono::steady_clock;

// What the work is. The class of its lock is another matter: in the one-queue phase both kinds use the same.
enum class Kind { interactive, bulk };

struct WaitSummary {
  std::size_t granted = 0;
  std::size_t timed_out = 0;  // not obtained within the configured time
  Clock::duration p50{};      // of the granted ones
  Clock::duration p99{};
  Clock::duration longest{};
};

// Thread-safe.
class WaitLog {
 public:
  explicit WaitLog(std::size_t articles) : recent_(articles) {}

  void granted(Kind kind, std::size_t article, Clock::duration wait);
  void timed_out(Kind kind);
  // Any other reason why a lock was not obtained. Only the last message is kept.
  void failed(const std::string& message);

  WaitSummary summary(Kind kind) const;
  // The last interactive waits for an article, oldest first, at most `recent_waits`.
  std::vector<Clock::duration> recent(std::size_t article) const;
  std::size_t failures() const;
  std::string last_failure() const;

  static constexpr std::size_t recent_waits = 6;

 private:
  struct Waits {
    std::vector<Clock::duration> granted;
    std::size_t timed_out = 0;
  };

  mutable std::mutex mutex_;
  std::array<Waits, 2> waits_;  // by Kind
  std::vector<std::deque<Clock::duration>> recent_;
  std::size_t failures_ = 0;
  std::string last_failure_;
};

}  // namespace forelock::demo
