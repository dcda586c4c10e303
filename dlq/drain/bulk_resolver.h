// Parks or purges many letters: round trips and disk confirmations are shared by many at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "drain/drainer_lock.h"
#include "drain/letter_store.h"

namespace forelock::drain {

// Resolves what it is shown, as a scan's visitor. Letters of one monitor that are parked keep their order. Ends at the
// first error, or when the drainer's lock is not certain any more; what was resolved by then stays so. Memory:
// max_bytes and max_letters. Its methods are for one thread.
class BulkResolver final : public LetterVisitor {
 public:
  static constexpr std::size_t threads = 32;
  static constexpr std::size_t max_letters = 1024;
  static constexpr std::size_t max_bytes = 16 * 1024 * 1024;

  // Both must outlive it.
  BulkResolver(LetterStore& store, const DrainerLock& lock, Resolution resolution);
  // Ends without resolving what is still waiting: call finish() first.
  ~BulkResolver() override;
  BulkResolver(const BulkResolver&) = delete;
  BulkResolver& operator=(const BulkResolver&) = delete;

  // They wait while there are too many. \returns true. \throws the first error.
  bool letter(const StoredLetter& letter) override;
  bool unreadable(const UnreadableLetter& letter) override;

  // Waits until all are resolved, durably. \throws the first error.
  void finish();

  // How many have been resolved.
  std::uint64_t letters() const;
  std::uint64_t unreadable_letters() const;

 private:
  struct Item {
    std::variant<StoredLetter, UnreadableLetter> letter;
    std::size_t bytes = 0;
  };

  void add(Item item, const std::string& monitor);
  void work(std::size_t lane);
  void end();

  LetterStore& store_;
  const DrainerLock& lock_;
  const Resolution resolution_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<Item>> lanes_;  // below: guarded by mutex_
  std::size_t next_lane_ = 0;
  std::size_t unresolved_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t letters_ = 0;
  std::uint64_t unreadable_ = 0;
  std::exception_ptr error_;
  bool ended_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace forelock::drain
