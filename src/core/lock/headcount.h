// A Headcount proves by sequence numbers alone that no other contender is in a monitor's queue (docs/protocol.md, "The
// number alone").
//
// The server numbers the children of a monitor as they are created. If this process was once alone, and each create
// since then got exactly the number that its own creates account for, then it is still alone. This holds only as long
// as the monitor is the same node, which the data watch on that node verifies, and only within one connection.
//
// Pure: it knows neither the monitor nor the session. Not synchronised.
#pragma once

#include <cstdint>
#include <optional>

#include "coordination/reply.h"

namespace forelock::lock {

// The number of children that a monitor has had, and the monitor's identity: a reused name has another czxid.
struct MonitorCount {
  std::int64_t czxid = 0;
  std::int64_t created = 0;
};

class Headcount {
 public:
  // --- the watch on the monitor's own node ---

  void watch_sent() { watch_in_flight_ = true; }
  // The request has not been sent, and will not be.
  void watch_withdrawn() { watch_in_flight_ = false; }
  // `set`: the server answered and there was room for the watch.
  void watch_answered(bool set);
  // Its data were changed. The watch is used up.
  void watch_fired();
  // The watch is set in this connection and has not fired, or its request is under way.
  bool watched() const { return watch_trusted_ || watch_in_flight_; }
  bool watch_in_flight() const { return watch_in_flight_; }
  // The ZooKeeper client will set it again in the next connection.
  bool watch_registered() const { return watch_registered_; }

  // --- the life of the monitor's node ---

  // It is being created: a watch that is set, or under way, may be that of a former one.
  void monitor_created() {
    next_.reset();
    watch_trusted_ = watch_in_flight_ = false;
  }
  void monitor_gone();
  void disconnected();

  // --- the count ---

  // A listing has shown that no other contender was there when the monitor had had `created` children.
  void was_alone(std::int64_t created);
  void others_seen() { next_.reset(); }
  // An own node and privateLock were created in one transaction, the node with this number. Returns whether there was
  // no other contender.
  bool node_and_lock_created(std::int64_t number);
  // An own node was created. Returns whether no other contender was there.
  bool node_created(std::int64_t number);
  void lock_created();
  // Whether the next claim will probably be proved by its number.
  bool likely_alone() const { return next_.has_value() && !shared_; }

  // --- how far the counter has come ---

  // Notes how many children the monitor has had, by the data of its node.
  void saw(const coordination::Stat& monitor);
  // The most that was seen: the server gives no lower number.
  const MonitorCount& at_least() const { return at_least_; }
  // A node with this number exists. True once, when the counter nears its end: from there on numbers prove nothing.
  bool nears_end(std::int64_t number);

 private:
  std::optional<std::int64_t> next_;  // the number of the next child, unless another contender comes
  bool shared_ = false;               // the count did not hold the last time: others use this monitor, too
  bool watch_trusted_ = false;
  bool watch_registered_ = false;
  bool watch_in_flight_ = false;
  bool end_told_ = false;
  MonitorCount at_least_;
};

}  // namespace forelock::lock
