// LockOrders remembers in which orders locks are taken one inside the other, and finds those that can become a deadlock
// though none has been seen: P2 inside P1 by one thread, P1 inside P2 by another.
//
// Pure; not synchronised. What a look shows is no proof that one lock was held while another was taken: its reads are
// no transaction. So an order that is new is believed only if its outer lock is still held when it is read once more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forelock/inspector.h"

namespace forelock::cli {

// `inner` was taken, or waited for, by a thread that held `outer`.
struct LockOrder {
  std::string outer;
  std::string inner;
  std::string who;   // "host/pid/thread"
  std::string info;  // what `inner` was taken for
  std::vector<std::string> outer_stack;
  std::vector<std::string> inner_stack;
  std::vector<std::string> within;  // what was held around both, each time: threads that have it in common exclude
                                    // one another there
  WallTime first_seen{};
  WallTime last_seen{};
  std::uint64_t looks = 0;  // that have shown it

  bool operator==(const LockOrder&) const = default;
};

// Orders of which each one's inner monitor is the next one's outer, and the last one's is the first one's: two, or
// more.
using OrderWarning = std::vector<LockOrder>;

class LockOrders {
 public:
  // What is kept: the orders that were seen last, and of a thread the locks that it has taken first.
  static constexpr std::size_t max_orders = 4096;
  static constexpr std::size_t max_warnings = 50;
  static constexpr std::size_t max_locks = 64;  // of a thread
  static constexpr std::size_t max_outer = 4;   // of a lock: the last ones taken before it
  static constexpr std::size_t max_stack_bytes = 1024;
  static constexpr std::size_t max_within = 8;
  static constexpr std::size_t max_doubts = 20;  // of a look: the others have their turn in a later one
  static constexpr std::chrono::hours forgotten_after{24};

  // A holder that is to be read once more.
  struct Doubt {
    std::string monitor;
    std::int64_t token = 0;
    bool operator==(const Doubt&) const = default;
  };

  // The next look: all locks of the threads that it shows. Left out is who leaves no record: no thread is known then.
  // So is what may linger: its section may be over. And so is a thread that waits for two locks at once: it does its
  // work asynchronously, or there are several of this name. Returns what is to be read before the next look; what is
  // not, is not believed.
  std::vector<Doubt> take(const std::vector<MonitorView>& monitors, WallTime now);
  // Whether the last look has shown more new orders than are read once more.
  bool has_left_out() const { return left_out_; }
  // That holder is still there, after the look.
  void confirm(const Doubt& doubt);

  // The newest first.
  std::vector<OrderWarning> warnings() const;
  std::size_t size() const { return orders_.size(); }

 private:
  using Key = std::pair<std::string, std::string>;  // outer, inner
  struct Lock;

  void take_thread(std::vector<Lock>& locks, WallTime now);
  void add(LockOrder order);
  void see_again(LockOrder& known, const LockOrder& seen);
  void look_for_ring(const LockOrder& order);
  std::vector<Key> shortest_way(const std::string& from, const std::string& to) const;
  void forget(WallTime now);
  void erase(std::map<Key, LockOrder>::iterator order);

  std::map<Key, LockOrder> orders_;
  std::set<std::pair<WallTime, Key>> by_age_;      // of last_seen
  std::vector<std::pair<Doubt, LockOrder>> open_;  // of the last look
  bool left_out_ = false;                          // the same
  std::vector<std::vector<Key>> rings_;            // the newest last
};

}  // namespace forelock::cli
