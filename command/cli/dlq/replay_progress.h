// The progress of a replay, for people: a bar on a terminal, lines anywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "cli/output/console.h"
#include "drain/replayer.h"

namespace forelock::cli {

// Writes to stderr. Thread-safe: events come from the replay's threads, ticks from the main one.
class ReplayProgress final : public drain::ReplayObserver {
 public:
  // `total`: how many letters there were to replay when it began; may turn out to be more or less.
  ReplayProgress(const Console& console, std::uint64_t total);

  void event(Event event, const drain::StoredLetter& letter, const std::string& message) override;
  // Brings what is shown up to date; to be called about once a second.
  void tick();
  // Takes the bar away.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void say(const std::string& line);
  void show(Clock::time_point now);
  std::string bar(Clock::time_point now) const;
  std::string numbers() const;

  const Console& console_;
  const std::uint64_t total_;
  const Clock::time_point begin_ = Clock::now();
  const bool has_bar_;

  std::mutex mutex_;
  std::uint64_t ended_ = 0;  // letters with an outcome of any kind
  std::uint64_t replayed_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t parked_ = 0;
  std::uint64_t waiting_ = 0;  // later, locked out, skipped
  bool bar_is_shown_ = false;
  Clock::time_point shown_at_{};
  Clock::time_point lines_since_{};  // the second that lines_ counts in
  std::uint64_t lines_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace forelock::cli
