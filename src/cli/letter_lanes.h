// Does something with many letters at once, but with those of one monitor in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/letter_lookup.h"

namespace forelock::cli {

// Each thread has a lane, and a monitor's letters always take the same one. For work that waits for disks and brokers.
// Used from one thread.
class LetterLanes {
 public:
  // `work` is called from several threads at once.
  explicit LetterLanes(std::function<void(const FoundLetter&)> work);
  // Waits for what is under way; what still waits is not done.
  ~LetterLanes();
  LetterLanes(const LetterLanes&) = delete;
  LetterLanes& operator=(const LetterLanes&) = delete;

  // Waits while too much is under way. \returns false once something has failed: the rest is not wanted.
  bool add(FoundLetter letter);
  // Waits until all is done. \throws the first thing that `work` threw.
  void finish();

  static constexpr std::size_t lanes = 32;
  static constexpr std::size_t most_letters = 256;                   // that wait or are under way
  static constexpr std::size_t most_bytes = std::size_t{16} << 20U;  // of their records; one letter always fits

 private:
  void run(std::size_t lane);
  void stop();

  const std::function<void(const FoundLetter&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<FoundLetter>> waiting_;
  std::size_t letters_ = 0;
  std::size_t bytes_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
  std::vector<std::jthread> threads_;
};

}  // namespace forelock::cli
