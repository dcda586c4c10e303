// An Unlocker frees the holders whose time for it, which they have asked for, is over, and removes unused monitors.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cli/output/console.h"
#include "cli/serve/picture.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"

namespace forelock::cli {

// The lock that one unlocker at a time holds; the others look whether it is free, and do not queue.
inline constexpr const char* unlocker_monitor = "forelock-unlocker";

// When an unlocker may free this holder; nothing if it has not asked for it.
bool may_be_unlocked(const HolderView& holder, WallTime now);

// Acts after each picture, on a thread of its own. It believes no picture: each holder is read again, and what is
// removed is what was read.
class Unlocker {
 public:
  // Called on its thread for each holder that it has freed.
  using Freed = std::function<void(const std::string& monitor, const HolderView& holder, const std::string& reason)>;

  // `sweep_after`: for how long a monitor is unused until it is removed. The client and the console must outlive it.
  Unlocker(Client& client, std::chrono::milliseconds patience, std::chrono::milliseconds sweep_after,
           const Console& console, Freed freed);
  // As stop().
  ~Unlocker();
  Unlocker(const Unlocker&) = delete;
  Unlocker& operator=(const Unlocker&) = delete;

  void start();
  // Any thread. A picture that it has not come to yet is left out.
  void take(std::shared_ptr<const Picture> picture);
  // Whether it is the one that frees.
  bool active() const { return active_; }
  // How many holders it has freed.
  std::uint64_t freed() const { return count_; }
  // How many unused monitors it has removed.
  std::uint64_t swept() const { return swept_; }

  // Nothing more is begun; what is under way ends soon once the client is closed. Does not wait.
  void begin_stop();
  // Waits for the end of its thread; idempotent.
  void stop();

 private:
  void work();
  bool act(const Picture& picture);  // false: something failed, which is tried again
  void sweep_if_due();
  bool holds_its_lock(const Picture& picture);
  void free(const std::string& monitor, const HolderView& holder);
  // Once for a problem that stays.
  void tell(const std::string& problem);
  bool stopping();

  Client& client_;
  const std::chrono::milliseconds patience_;
  const std::chrono::milliseconds sweep_after_;
  const Console& console_;
  const Freed freed_;
  BlockingWriteLock lock_;
  std::atomic<bool> active_ = false;
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<std::uint64_t> swept_ = 0;
  std::string told_;                                       // of its thread
  std::chrono::steady_clock::time_point next_sweep_ = {};  // the same
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const Picture> next_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forelock::cli
