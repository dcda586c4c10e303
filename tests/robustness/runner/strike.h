// One fault: a kind of them, and one that happens.
#pragma once

#include "robustness/runner/fault_log.h"

namespace forelock::robustness {

// One that was planned, while it is being done. Thread-safe where it says so.
class Strike {
 public:
  Strike(std::string kind, std::uint64_t seed, std::chrono::milliseconds duration, FaultLog& log, std::stop_token stop)
      : kind_(std::move(kind)), random_(seed), duration_(duration), log_(log), stop_(std::move(stop)) {}
  ~Strike() { end(); }
  Strike(const Strike&) = delete;
  Strike& operator=(const Strike&) = delete;

  std::chrono::milliseconds duration() const { return duration_; }
  // Faults that take their time end early when the run does.
  const std::stop_token& stop() const { return stop_; }

  int between(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  template <typename Item>
  const Item& one_of(const std::vector<Item>& items) {
    return items.at(static_cast<std::size_t>(between(0, static_cast<int>(items.size()) - 1)));
  }

  // To be said before the deed; once; from any thread.
  void begin(std::string_view target, std::string_view detail = {}) { number_ = log_.begin(kind_, target, detail); }
  // Instead of the deed.
  void skip(std::string_view reason) { log_.skip(kind_, reason); }
  bool begun() const { return number_.has_value(); }
  void end() {
    if (number_ && !ended_) log_.end(*number_, kind_);
    ended_ = true;
  }

 private:
  const std::string kind_;
  std::mt19937_64 random_;
  const std::chrono::milliseconds duration_;
  FaultLog& log_;
  const std::stop_token stop_;
  std::optional<std::uint64_t> number_;
  bool ended_ = false;
};

// Takes a fault back. Empty if there is nothing to be done.
using Undo = std::function<void()>;

struct FaultKind {
  std::string name;
  int weight = 1;  // how often, among those of its lane
  std::chrono::milliseconds shortest{0};
  std::chrono::milliseconds longest{0};
  // Does it, or says why not. The strike lives until the fault has been taken back.
  std::function<Undo(Strike&)> begin;
};

}  // namespace forelock::robustness
