// One server of the ensemble: its own copy of the tree, somewhat behind the leader's, and the watches set on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/connection.h"
#include "model/tree.h"
#include "model/watch_table.h"

namespace forelock::model {

class Ensemble;
struct LogEntry;

// Server 0 is the leader: what it has applied is the truth.
class Server final : public Actor, public ServerEnd {
 public:
  Server(Ensemble& ensemble, Timeline& timeline, const TreeRules& rules, bool leads);

  const Tree& tree() const { return tree_; }
  std::int64_t zxid() const { return zxid_; }
  bool leads() const { return leads_; }
  // A follower applies nothing before this instant.
  void freeze_until(Instant until) { frozen_ = until; }

  void receive(Connection& connection, Upstream message) override;
  void forwarded(Connection& connection) override;
  void fire(std::uint32_t what, std::uint64_t detail) override;

  // The leader's first execution of a write: fills in the entry's outcome. Nothing is told to anybody yet.
  void execute(LogEntry& entry, coordination::Reply& reply, std::vector<Change>& changes);
  // Follows the execution: watches, and the reply if the request came over a connection of this server.
  void announce(const LogEntry& entry, coordination::Reply reply, const std::vector<Change>& changes);
  // The entry at this index of the log is on its way here.
  void expect(std::size_t index, Span delay);
  // A connection is over.
  void forget(const Connection& connection) { watches_.forget(connection); }

 private:
  void advance(std::size_t end);
  void connect(Connection& connection, const Upstream& message);
  void drain(Connection& connection);
  coordination::Reply read(Connection& connection, const Upstream& message);
  void set_watches(Connection& connection, const WatchSet& watches);
  void trigger(const Change& change);
  void notify(Connection& connection, coordination::WatchEvent::Kind kind, std::string_view path);

  Ensemble& ensemble_;
  Timeline& timeline_;
  Tree tree_;
  WatchTable watches_;
  bool leads_;
  std::int64_t zxid_ = 0;
  std::size_t applied_ = 0;  // entries of the log
  Instant last_due_ = Timeline::start;
  Instant frozen_{};
  std::vector<Change> scratch_;
};

}  // namespace forelock::model
