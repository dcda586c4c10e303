// One replay, from the first letter to the last.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "drain/letter_store.h"
#include "drain/look_ahead.h"
#include "drain/replayer.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"

namespace forelock::drain {

// A Pacer spaces letters evenly. Not thread-safe; gets the time as an argument. Unused time is not saved up: no bursts
// after a pause.
class Pacer {
 public:
  using Clock = std::chrono::steady_clock;

  // \param per_second 0: as fast as it goes.
  explicit Pacer(double per_second)
      : interval_(per_second > 0 ? std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(1 / per_second))
                                 : Clock::duration::zero()) {}

  // When the caller may begin: its own slot.
  Clock::time_point reserve(Clock::time_point now) {
    const Clock::time_point slot = std::max(next_, now);
    next_ = slot + interval_;
    return slot;
  }

 private:
  Clock::duration interval_;
  Clock::time_point next_ = Clock::time_point::min();
};

// The calling thread reads the store and fills the look-ahead; `concurrency` threads empty it. Used once.
class ReplayRun final : private LetterVisitor {
 public:
  ReplayRun(Client& client, LetterStore& store, const AnyTarget& target, ReplayObserver& observer,
            const ReplayOptions& options);

  // Blocks. Ends early when one of the tokens is stopped, or at the first error of the store or the observer, which it
  // throws when its threads have ended.
  ReplayReport run(std::stop_token stop, std::stop_token drainer_lost);

 private:
  using Event = ReplayObserver::Event;

  // The outcome of a letter, and whether later ones of its monitor may proceed.
  struct Step {
    std::optional<Event> event;  // nothing: it is not in the store any more, or its turn never came
    std::string message;
    bool blocks = false;
  };

  bool letter(const StoredLetter& letter) override;
  bool unreadable(const UnreadableLetter& letter) override;

  void work();
  std::optional<StoredLetter> next();
  void close(const StoredLetter& letter, const Step& step);

  Step step_or_stop(const StoredLetter& letter);
  Step step(const StoredLetter& letter);
  bool wait_for_slot();
  // \returns why it is not held, or nothing if it is.
  std::optional<std::string> obtain(BlockingWriteLock& lock);
  // `lock`: nullptr if the target takes it. So in call_target().
  Step attempt(const StoredLetter& letter, BlockingWriteLock* lock);
  void take_back(const StoredLetter& letter);
  TryResult call_target(const StoredLetter& letter, BlockingWriteLock* lock);
  Step failed(const StoredLetter& letter, std::uint32_t tries, const std::string& message);

  // Takes one of `max` before a try; a letter that is not tried gives it back.
  void give_back();
  std::uint32_t begin(const StoredLetter& letter);

  void report(Event event, const StoredLetter& letter, const std::string& message);
  // Needs report_mutex_.
  void list(UnresolvedLetter letter);
  void fail(std::exception_ptr error);
  bool stopping() const { return stop_.stop_requested(); }

  Client& client_;
  LetterStore& store_;
  const AnyTarget& target_;
  ReplayObserver& observer_;
  const ReplayOptions& options_;

  std::stop_source stop_;  // stopped by the caller, a lost drainer's lock, or an error

  std::mutex mutex_;
  std::condition_variable_any changed_;
  LookAhead look_ahead_;  // below: guarded by mutex_
  Pacer pacer_;
  bool read_all_ = false;
  std::uint64_t reserved_ = 0;  // of `max`: begun, or about to be
  std::uint64_t begun_ = 0;
  std::exception_ptr error_;

  std::mutex report_mutex_;  // never taken with mutex_ held
  ReplayReport report_;
};

}  // namespace forelock::drain
