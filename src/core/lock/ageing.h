// Ageing decides when the first background contender of a process may move to the end of a monitor's foreground queue
// (docs/protocol.md, "Background work that ages").
//
// Only the head of the background queue ages: it must have waited for one period with no contender of its class before
// it, the next one for two with one before it, and so on. So the foreground waits for one background section in each
// period, and not for all waiters. Of one process only the first can be due, since each later one has one more before
// it and was not seen there earlier.
//
// Pure: it knows neither the monitor nor the session. Not synchronised.
#pragma once

#include <cstddef>

#include "lock/engine_types.h"

namespace forelock::lock {

class Ageing {
 public:
  // \param period zero: no ageing.
  explicit Ageing(Duration period) : period_(period) {}

  bool on() const { return period_ > Duration::zero(); }

  ContenderId first() const { return first_; }
  // Sets the first of this process's waiting background contenders; 0: none.
  void first(ContenderId contender, TimePoint now);
  // A listing that was asked for at `sent`, and came at `now`, shows so many of its class before it.
  void seen(std::size_t before, TimePoint sent, TimePoint now);
  // A listing has been asked for.
  void asked(TimePoint now) { asked_ = now; }
  // Invalidates the last listing.
  void look_again() { seen_ = {}; }
  // It did not move: its time begins anew with the next listing.
  void restart() { since_ = never; }

  // It has waited for long enough, and a listing that was asked for since then shows that nothing has changed.
  bool due(TimePoint now) const;
  // The time at which it is due if no contender before it leaves; `never` before a listing has shown it.
  TimePoint due_at() const;
  // The time at which another listing is needed.
  TimePoint next_look() const;

 private:
  const Duration period_;
  ContenderId first_ = 0;
  std::size_t before_ = 0;   // of its class
  TimePoint since_ = never;  // that many, or fewer than were seen before
  TimePoint seen_{};         // when the last listing was asked for that shows them
  TimePoint asked_{};
};

}  // namespace forelock::lock
