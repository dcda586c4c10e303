// A request that has been sent and not yet answered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lock/engine_types.h"

namespace forelock::lock {

class Monitor;

enum class FlightKind {
  heartbeat,  // a write without effect: proves that the session lives
  ping,       // a sync: goes through the leader, so that later writes prove that it has heard of the session
  create_monitor,
  fresh_claim,  // monitor, own node and privateLock in one transaction
  fast_claim,   // own node and privateLock in one transaction
  enqueue,      // own node
  move,         // own node, in place of the one that it has had in another class's queue
  claim,        // privateLock, with the own node checked
  hand_over,    // privateLock from one contender of this process to another
  release,
  yield,
  prove_hold,  // of a holder: its node and privateLock are checked
  update_record,
  remove_node,
  remove_lock,  // a privateLock of ours without an own node
  remove_monitor,
  knock,           // at many monitors
  remove_unused,   // monitors that have not been used for a while
  look_at_unused,  // whether such a one still carries the mark
  list,
  catch_up,  // a sync: the listing behind it shows what has been released before it was sent
  watch_parent,
  watch_predecessor,
  watch_lock,
  watch_node,  // a contender's own node, or only its data
  unwatch,
  resolve_barrier,  // a write without effect: what is read behind it shows everything that was ever applied
  resolve_list,
  resolve_lock,
  resolve_node
};

struct Flight {
  FlightKind kind = FlightKind::heartbeat;
  Monitor* monitor = nullptr;
  ContenderId contender = 0;  // the contender it is for; for a hand-over the leaver
  ContenderId next = 0;       // hand_over: who gets the lock
  TimePoint sent{};
  std::uint32_t creation = 0;  // how often this process had made the monitor's node when it was sent
  bool watch = false;          // list, watch_node: is to set the watch
  bool watched = false;        // it sets a watch: there was room for it
  bool old_listing = false;    // watch_predecessor: an older listing has named the node
  std::string name = {};       // resolve_node, watch_predecessor, watch_node: which child

  // Of a knock: at which monitors, and how often it was refused before.
  std::vector<std::string> names = {};
  int refusals = 0;
};

}  // namespace forelock::lock
