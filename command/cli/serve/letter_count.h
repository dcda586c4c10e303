// A LetterCount reads the queue of dead letters now and then, for the metrics.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "cli/serve/back_room.h"
#include "forelock/client.h"
#include "forelock/owner_record.h"
#include "forelock/settings.h"

namespace forelock::cli {

struct LetterNumbers {
  bool readable = true;  // else Kafka is away, and nothing is known but of the outbox
  std::uint64_t letters = 0;
  std::uint64_t parked = 0;
  std::uint64_t unreadable = 0;
  std::optional<WallTime> oldest;            // when the oldest of `letters` failed
  std::optional<std::uint64_t> outbox_rows;  // of this machine; nothing if it cannot be read
};

// For the server's thread alone.
class LetterCount {
 public:
  // The whole queue is read: less often where that takes more than a tenth of this.
  static constexpr std::chrono::seconds interval{30};

  // `post`: does something on the server's thread. The back room must outlive it, and it what is posted.
  LetterCount(BackRoom& back_room, Settings settings, LogSink log, std::function<void(std::function<void()>)> post);

  // Asks the back room if it is time to.
  void tick();
  // Of the last reading; nothing if it has failed, or before the first.
  const std::optional<LetterNumbers>& numbers() const { return numbers_; }

 private:
  BackRoom& back_room_;
  const Settings settings_;
  const LogSink log_;
  const std::function<void(std::function<void()>)> post_;
  std::optional<LetterNumbers> numbers_;
  bool under_way_ = false;
  std::chrono::steady_clock::time_point next_ = {};
};

}  // namespace forelock::cli
