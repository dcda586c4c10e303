// A Blocking is the picture of who blocks whom, over all monitors of a namespace. Pure: views in, answers out.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/serve/look/sighting.h"
#include "forelock/inspector.h"

namespace forelock::cli {

// One who holds or waits. What belongs together is one party: the members of a lock set, and the acquisitions of one
// thread (host/pid/thread) in one session; where there is no record, those of the session. Pieces of asynchronous work
// that share a thread count as one party, too: nothing in a record tells them apart.
struct Party {
  // A monitor in whose queue it waits.
  struct Wait {
    std::string monitor;
    std::size_t position = 0;
    std::chrono::milliseconds waited{0};
  };
  // A monitor that it holds.
  struct Hold {
    std::string monitor;
    std::chrono::milliseconds held{0};
  };

  std::string who;   // "host/pid/thread", or "a client without a record"; never a session's id
  std::string info;  // what for; may be empty
  std::vector<Hold> holds;
  std::vector<Wait> waits;
  std::vector<std::size_t> blockers;  // parties that hold what it waits for, or are next where it is free; not itself
  std::vector<std::size_t> blocked;   // the reverse
  std::size_t self_waits = 0;         // waits for what it holds itself: these make no ring, see above
};

// All that wait below one party, each counted once.
struct Weight {
  std::size_t parties = 0;
  std::size_t depth = 0;                 // the longest way down
  std::chrono::milliseconds longest{0};  // the oldest wait
  std::chrono::milliseconds total{0};    // of all waits
};

// A party with those who wait for it, by monitor and then in the order of service. One that has been shown already
// comes again without them.
struct BlockingTree {
  std::size_t party = 0;
  bool repeated = false;
  bool in_ring = false;
  std::size_t left_out = 0;  // how many of `waiting` are not shown, for lack of room
  std::vector<BlockingTree> waiting;
};

// What a release would change.
struct AfterRelease {
  std::optional<std::size_t> next;  // the party that is served next; nothing where none waits
  std::size_t moving_up = 0;        // how many come one place nearer, the next one among them
  std::vector<std::string> kept;    // monitors that the holder keeps
  std::vector<std::string> needed;  // monitors for which the next one waits besides
};

class Blocking {
 public:
  static constexpr std::size_t max_rings = 10;
  static constexpr std::size_t max_tree_parties = 500;  // of one tree; deeper than max_tree_depth nothing is shown
  static constexpr std::size_t max_tree_depth = 50;

  // The order of the monitors decides ties.
  explicit Blocking(const std::vector<MonitorView>& monitors);
  // As they are at that time.
  Blocking(const Sightings& monitors, WallTime now);

  const std::vector<Party>& parties() const { return parties_; }
  // Parties that wait for nobody and for whom others wait, the heaviest first: the longest total of waits.
  const std::vector<std::size_t>& roots() const { return roots_; }
  // Rings: each party waits for the next one, the last for the first. Of rings that share a party the shortest; each
  // begins with the party that has waited longest.
  const std::vector<std::vector<std::size_t>>& rings() const { return rings_; }

  Weight weight(std::size_t party) const;
  BlockingTree tree(std::size_t root) const;
  // The worst chain now, the root first: a ring if there is one, else the heaviest root and the longest way down from
  // it. Nothing while nobody waits.
  std::optional<std::string> worst() const;
  // One ring, in a sentence.
  std::string ring_sentence(const std::vector<std::size_t>& ring) const;
  AfterRelease after_release(const MonitorView& monitor) const;

 private:
  std::size_t party_of(const std::optional<OwnerRecord>& owner, std::int64_t session);
  void add(const MonitorView& monitor, std::chrono::milliseconds later);
  void link(const MonitorView& monitor);
  void find_rings();
  void find_roots();
  std::vector<bool> core(const std::vector<bool>& left_out) const;
  std::vector<std::size_t> shortest_ring(std::size_t start, const std::vector<bool>& within) const;
  void grow(BlockingTree& tree, std::size_t depth, std::vector<bool>& seen, std::size_t& room) const;
  std::vector<std::size_t> longest_way(std::size_t root) const;
  std::string name(std::size_t party) const;
  // What `blocker` holds, or is next at, of what `waiter` waits for.
  std::vector<std::string> between(std::size_t waiter, std::size_t blocker) const;

  std::vector<Party> parties_;
  std::unordered_map<std::string, std::size_t> index_;
  std::map<std::string, std::size_t> holders_;  // of monitors that are waited for
  std::vector<std::size_t> roots_;
  std::vector<std::vector<std::size_t>> rings_;
};

}  // namespace forelock::cli
