// A LingerMachine keeps unlocked locks for the next section of the same process, as long as no other contender wants
// them; or for a moment, so that a release can share a request with the next claim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forelock/priority.h"
#include "linger/recent_monitors.h"
#include "lock/engine_types.h"

namespace forelock::linger {

struct LingerLimits {
  // The time for which a lock lingers; zero: none does. After others wanted a monitor, its lock does not linger for as
  // long.
  lock::Duration time{0};
  // How many linger at a time; beyond that the least recently used one is given up.
  std::size_t locks = 1000;
  // How many monitors are remembered that others wanted.
  std::size_t wanted = 4096;
  // Only locks of monitors linger that a caller has held here in such a time before: a lock that is not taken again
  // costs requests more than one that is released.
  bool reused = false;
  // How many monitors are remembered for that.
  std::size_t used = 10'000;
  // How long the release of a lock that does not linger is delayed; zero: not at all.
  lock::Duration delay{0};
};

// An acquisition that a caller wants.
struct Wish {
  const std::string& monitor;
  Priority priority = Priority::foreground;
  // False if it must have its own grant, or its record has data of its section: an alarm, an automatic release.
  bool may_linger = true;
  // Its caller wants to know its place in the queue, should it come into one.
  bool wants_place = false;
};

// The lock of a contender, as the next section needs to know it.
struct Lock {
  lock::ContenderId contender = 0;
  lock::Token token = 0;
  std::string guid;
};

// clang-format off
//   a lock is   meaning                                               left by
//   ----------  ----------------------------------------------------  ------------------------------------------------
//   asked for   its contender waits for the servers                   granted -> in use; ended -> gone
//   in use      a caller holds it                                     end_section -> lingering, or gone: the driver
//                                                                     releases it; given_back -> gone, too;
//                                                                     stepped_aside -> asked for; ended -> gone
//   lingering   the process holds it, and no caller                   take -> in use; contended, changed, disconnected,
//                                                                     its time, the bound, an acquisition that cannot
//                                                                     have it -> given up; ended -> gone
//   delayed     the same, for a moment                                any acquisition that asks the servers, contended,
//                                                                     changed, disconnected, its time, the bound
//                                                                     -> given up; ended -> gone
//   given up    the driver releases it                                ended -> gone
// clang-format on
//
// Pure: no I/O, threads, clock or randomness. Not thread-safe. `now` must not go backwards between calls.
//
// A lingering lock is an ordinary held lock of the engine whose caller has finished. The engine (a contender waits
// behind the holder) and the watch on the monitor's children report that it is wanted; the watch's event suffices, and
// the change itself is read later.
class LingerMachine {
 public:
  explicit LingerMachine(LingerLimits limits) : limits_(limits), wanted_(limits.wanted), used_(limits.used) {}
  LingerMachine(const LingerMachine&) = delete;
  LingerMachine& operator=(const LingerMachine&) = delete;

  // How many are delayed at a time.
  static constexpr std::size_t most_delayed = 8;

  // Whether locks linger at all.
  bool lingers() const { return limits_.time > lock::Duration::zero(); }
  // Whether it needs calls at all.
  bool on() const { return lingers() || limits_.delay > lock::Duration::zero(); }

  // --- callers ---

  // The lock that lingers at the monitor, in use from now on; null if the servers must be asked. One that is there and
  // cannot be had is given up. `certain`: the connection lives, and the session is proved alive for a while.
  // The result is valid until the next call.
  const Lock* take(const Wish& wish, bool certain, lock::TimePoint now);
  // The servers are asked, as this contender. \returns whether its lock may linger, so that the engine is to watch for
  // contenders behind it.
  bool ask(lock::ContenderId contender, const Wish& wish, std::string guid, lock::TimePoint now);
  void stepped_aside(lock::ContenderId contender);
  // Its record says from now on what ends with this section.
  void bind_to_section(lock::ContenderId contender);
  // Its class has changed, or the queue in which it stands: what it gets is nobody's but its caller's.
  void moved(lock::ContenderId contender);
  // A held lock is about to be released for another reason than its section's end: it does not stay.
  void given_back(lock::ContenderId contender);
  // The caller of a held lock has finished. True: it lingers, or its release is delayed. False: the driver is to
  // release it, and nothing is known of it here any more; or it is not held, but asked for. `certain` as above.
  // `may_wait`: no contender is known to wait for the release.
  bool end_section(lock::ContenderId contender, bool certain, bool may_wait, lock::TimePoint now);

  // Which section of the lock's callers is the present one: another one after each end.
  std::uint64_t section(lock::ContenderId contender) const;

  // --- the engine and the session ---

  void granted(lock::ContenderId contender, lock::Token token);
  // Refused, lost or released. \returns whether it was no caller's: it lingered, or was being given up.
  // `had_queued`: there may still be news of its node, which then are not those of another client's.
  bool ended(lock::ContenderId contender, bool had_queued = true);
  // A contender waits behind this holder.
  void contended(lock::ContenderId contender, lock::TimePoint now);
  // A watch event of the monitor or of one of its children.
  void changed(const std::string& monitor, lock::TimePoint now);
  void disconnected();

  // --- time ---

  void tick(lock::TimePoint now);
  // The time of the next work of tick(); `never` if there is none.
  lock::TimePoint next_timer() const;

  // --- for the driver ---

  // The locks to be released, each once. After each of the calls above.
  std::vector<lock::ContenderId> take_given_up() { return std::exchange(given_up_, {}); }
  // How many linger now.
  std::size_t lingering() const { return lingering_.size(); }
  // Contenders that have not ended, and their monitors.
  std::size_t contenders() const { return entries_.size(); }
  std::size_t monitors() const { return monitors_.size(); }

 private:
  struct Entry;
  enum class State { asked_for, in_use, lingering, delayed, given_up };
  using Places = std::list<Entry*>;
  struct Monitor {
    std::size_t contenders = 0;
    std::size_t waiting = 0;  // those that are asked for
    // Those that were, and were refused: the news of their nodes' removal may still come.
    std::size_t withdrawn = 0;
    Entry* holder = nullptr;  // the one that is in use, lingering or delayed
  };
  using MonitorEntry = std::pair<const std::string, Monitor>;
  struct Entry {
    Lock lock;
    MonitorEntry* monitor = nullptr;
    Priority priority = Priority::foreground;
    State state = State::asked_for;
    bool may_linger = true;
    bool bound = false;  // to this section
    bool tells_place = false;
    bool may_be_delayed = true;
    std::uint64_t section = 0;
    lock::TimePoint until{};                     // lingering, delayed: the end of its time
    std::optional<Places::iterator> place = {};  // lingering, delayed: in the list of these
  };

  static bool without_caller(const Entry& entry);
  Entry* find(lock::ContenderId contender);
  Places& places_of(State state) { return state == State::delayed ? delayed_ : lingering_; }
  void release_at_end(Entry& entry);
  void move_to(Entry& entry, State state);
  // `by_another`: by a contender that is not of this process, as far as is known.
  void want(Entry& entry, bool by_another, lock::TimePoint now);
  void give_up(Entry& entry);
  void erase(Entry& entry);

  const LingerLimits limits_;
  std::unordered_map<lock::ContenderId, Entry> entries_;
  std::unordered_map<std::string, Monitor> monitors_;  // of these
  Places lingering_;  // least recently used first; all linger equally long, so their ends are in order, too
  Places delayed_;    // the same of these
  RecentMonitors wanted_;
  RecentMonitors used_;
  std::vector<lock::ContenderId> given_up_;
};

}  // namespace forelock::linger
