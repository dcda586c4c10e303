// Virtual time and what is due to happen in it.
#pragma once

#include "model/random.h"

namespace forelock::model {

// Something that acts at instants it has asked for. `what` and `detail` are its own.
class Actor {
 public:
  virtual void fire(std::uint32_t what, std::uint64_t detail) = 0;

 protected:
  ~Actor() = default;
};

// Actors outlive the timeline's last step. What is due at the same instant happens in the order of the calls.
class Timeline {
 public:
  static constexpr Instant start{std::chrono::hours(1)};

  Instant now() const { return now_; }
  std::size_t steps() const { return steps_; }
  bool empty() const { return heap_.empty(); }
  Instant next() const { return heap_.front().when; }

  void at(Instant when, Actor& actor, std::uint32_t what, std::uint64_t detail = 0);
  void after(Span delay, Actor& actor, std::uint32_t what, std::uint64_t detail = 0) {
    at(now_ + delay, actor, what, detail);
  }
  // Lets the next thing happen. False if nothing is left.
  bool step();
  // Lets everything happen that is due by then; it is `end` afterwards.
  void run_until(Instant end);

 private:
  struct Entry {
    Instant when;
    std::uint64_t order;
    Actor* actor;
    std::uint64_t detail;
    std::uint32_t what;
  };
  static bool later(const Entry& a, const Entry& b) { return a.when != b.when ? a.when > b.when : a.order > b.order; }

  Instant now_ = start;
  std::uint64_t order_ = 0;
  std::size_t steps_ = 0;
  std::vector<Entry> heap_;
};

}  // namespace forelock::model
