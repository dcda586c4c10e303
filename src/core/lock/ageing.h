// Ageing decides when the first background contender of a process may move to the end of a monitor's foreground queue
// (docs/protocol.md, "Background work that ages").
//
// Only the head of the background queue ages: it has waited for one period with nobody of its class before it, the
// next one for two with one before it, and so on. So the foreground pays for one background section in each period,
// and not for all that wait. Of one process only its first can be due, as whoever stands behind it has one more before
// it and has been seen there no later.
//
// Pure: it knows neither the monitor nor the session. Not synchronised.
#pragma once

#include <cstddef>

#include "lock/engine_types.h"

namespace forelock::lock {

class Ageing {
 public:
  // \param period zero: nobody ages.
  explicit Ageing(Duration period) : period_(period) {}

  bool on() const { return period_ > Duration::zero(); }

  ContenderId first() const { return first_; }
  // Who is the first of this process's background contenders now; 0: nobody waits.
  void first(ContenderId contender, TimePoint now);
  // A listing that was asked for at `sent`, and came at `now`, shows so many of its class before it.
  void seen(std::size_t before, TimePoint sent, TimePoint now);
  // A listing has been asked for.
  void asked(TimePoint now) { asked_ = now; }
  // What was seen may not be so any more.
  void look_again() { seen_ = {}; }
  // It did not move: its time begins anew with the next listing.
  void restart() { since_ = never; }

  // It has waited for long enough, and a listing that was asked for since then shows that nothing has changed.
  bool due(TimePoint now) const;
  // When its time is over, if nobody before it goes; `never` before a listing has shown it.
  TimePoint due_at() const;
  // When another listing is needed.
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
