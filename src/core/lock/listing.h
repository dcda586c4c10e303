// A Listing has other processes' contenders, as last read from a monitor's children, and whether that is still current.
//
// It is fresh as long as the watch that was set with it has not fired, or while the node before our first contender is
// watched. Nodes of this process are not part of it.
//
// Pure: it knows neither the monitor nor the session. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coordination/reply.h"
#include "lock/child_name.h"
#include "lock/engine_types.h"
#include "lock/queue_order.h"

namespace forelock::lock {

struct Contender;

class Listing {
 public:
  // --- reading ---

  void sent(TimePoint now);
  void answered() { --in_flight_; }
  bool in_flight() const { return in_flight_ > 0; }
  TimePoint last_sent() const { return last_sent_; }
  // Takes an answer. Returns how many of the `own` nodes it shows.
  std::size_t take(const std::vector<std::string>& children, const coordination::Stat& monitor,
                   const std::unordered_map<std::string, Contender*>& own);
  // Nothing is known any more.
  void forget();

  // --- contents ---

  bool known() const { return known_; }
  bool lock_seen() const { return lock_seen_; }
  bool shows_nothing() const { return children_ == 0; }
  // Contenders of other processes, in the order in which they are served.
  const std::vector<ForeignContender>& others() const { return others_; }
  // How many of them go before this child.
  std::size_t count_before(const ChildName& child) const;
  // The last of them, or null.
  const ForeignContender* last_before(const ChildName& child) const;
  // Whether one of them goes before this child and was there when its claim was applied. `claimed_at_creation`: the
  // claim has created it.
  bool shows_before_claim(const ChildName& child, bool claimed_at_creation) const;
  // Whether it was taken after this child had been created.
  bool shows(const ChildName& child) const { return known_ && created_ > child.number; }
  // And no contender went before it.
  bool shows_first(const ChildName& child) const;
  // The node is gone, and privateLock with it, as far as can be known.
  void remove(const std::string& node);

  // --- validity ---

  // The answer to the requested watch on the children.
  void watch_answered(bool set);
  void children_changed() { children_watched_ = false; }
  bool children_watched() const { return children_watched_; }
  // There was no room for a watch: looks are taken at intervals.
  bool unwatched() const { return unwatched_; }
  void set_unwatched(bool unwatched) { unwatched_ = unwatched; }
  // The last look was refused: the next is taken after an interval, too.
  bool refused() const { return refused_; }
  void set_refused() { refused_ = true; }
  // It stays true for this contender of ours, the first, since the node before it is watched or will be at once; for
  // none if 0.
  void keep_fresh_for(ContenderId first) { fresh_for_ = first; }
  bool fresh_for(ContenderId first) const { return fresh_for_ == first; }
  // The watched node before our first contender, empty if there is none.
  const std::string& watched_node() const { return watched_node_; }
  void set_watched_node(std::string node) { watched_node_ = std::move(node); }
  // It is not what it was: nothing is kept fresh by it any more. Returns its name.
  std::string watched_node_changed();
  // Another look is needed.
  void expire();

 private:
  bool known_ = false;
  std::vector<ForeignContender> others_;
  bool lock_seen_ = false;
  std::size_t children_ = 0;
  std::int64_t created_ = 0;  // how many children the monitor had had
  std::size_t in_flight_ = 0;
  TimePoint last_sent_{};
  bool children_watched_ = false;
  bool unwatched_ = false;
  bool refused_ = false;
  ContenderId fresh_for_ = 0;
  std::string watched_node_;
};

}  // namespace forelock::lock
