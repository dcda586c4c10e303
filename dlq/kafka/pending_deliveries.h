// Records that are under way, and the receivers of their outcomes.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "kafka/producer.h"
#include "kafka/record.h"

namespace forelock::kafka {

// Sees to it that each callback is called once. Thread-safe.
class PendingDeliveries {
 public:
  using Id = std::uint64_t;

  Id add(Producer::Callback callback);
  // The record was not taken: its callback is not called.
  void withdraw(Id id);
  // Calls the callback, unless it has been. It must not throw; what it throws is swallowed.
  void finish(Id id, const Delivery& delivery);
  // Finishes what is left.
  void finish_all(const Delivery& delivery);
  // Waits until nothing is under way and no callback runs.
  bool wait_until_none(std::chrono::milliseconds timeout);

 private:
  // Used again and again; an id names a slot and how often it had been used before.
  struct Slot {
    Producer::Callback callback;
    std::uint32_t uses = 0;
    bool taken = false;
  };

  std::optional<Producer::Callback> take(Id id);
  void done();

  std::mutex mutex_;
  std::condition_variable none_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::atomic<std::size_t> under_way_ = 0;  // callbacks that run included
};

}  // namespace forelock::kafka
