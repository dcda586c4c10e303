// One server of the ensemble: its own copy of the tree, somewhat behind the leader's, and the watches set on it.
#pragma once

#include "model/connection.h"
#include "model/tree.h"
#include "model/watch_table.h"

namespace forelock::model {

class Ensemble;
struct LogEntry;

class Server final : public Actor, public ServerEnd {
 public:
  // A server that looks for a leader serves no client.
  enum class Role { leading, following, looking };

  Server(Ensemble& ensemble, Timeline& timeline, const TreeRules& rules, Role role);

  const Tree& tree() const { return tree_; }
  std::int64_t zxid() const { return zxid_; }
  Role role() const { return role_; }
  // Whether the leader it has been or has followed last has lost the majority. Until it notices, it answers what it can
  // answer without one.
  bool deposed() const { return deposed_; }

  // --- the ensemble decides ---
  void lose_majority() { deposed_ = true; }
  // Drops its clients.
  void stop_serving();
  // With everything that is committed, as the leader or a follower of it.
  void serve(Role role);

  // A follower applies nothing before this instant.
  void freeze_until(Instant until) { frozen_ = until; }
  // Until this instant a follower and the leader hear nothing of each other; what they say arrives afterwards. The
  // follower goes on answering what it can.
  void cut_off_until(Instant until) { cut_off_ = std::max(cut_off_, until); }
  Instant cut_off() const { return cut_off_; }

  void receive(Connection& connection, Upstream message) override;
  void forwarded(Connection& connection) override;
  void fire(std::uint32_t what, std::uint64_t detail) override;

  // The leader's first execution of a write: fills in the entry's outcome. Nothing is told to anybody yet.
  void execute(LogEntry& entry, coordination::Reply& reply, std::vector<Change>& changes);
  // Follows the execution: watches, and the reply if the request came over a connection of this server.
  void announce(const LogEntry& entry, coordination::Reply reply, const std::vector<Change>& changes);
  // The entry at this index of the log is on its way here.
  void expect(std::size_t index, Span delay);
  // Answers a sync, unless a write of the same connection that is never answered comes before it.
  void answer_sync(Connection& connection, std::uint64_t number);
  // As far as this server knows.
  bool has_ended(coordination::SessionId session) const { return ended_.contains(session); }
  // A connection is over.
  void forget(const Connection& connection) { watches_.forget(connection); }

 private:
  enum What : std::uint32_t { entry_due, report_due, visitor_due };

  void advance(std::size_t end);
  void heard_of(coordination::SessionId session);
  void report();
  void hang_up(Connection& connection);
  void turn_away(Connection& connection);
  void connect(Connection& connection, Upstream message);
  void admit(Connection& connection, const Upstream& message);
  void drain(Connection& connection);
  coordination::Reply read(Connection& connection, const Upstream& message);
  void set_watches(Connection& connection, const WatchSet& watches);
  void trigger(const Change& change);
  void notify(Connection& connection, coordination::WatchEvent::Kind kind, std::string_view path);

  Ensemble& ensemble_;
  Timeline& timeline_;
  Tree tree_;
  WatchTable watches_;
  Role role_;
  bool deposed_ = false;
  std::int64_t zxid_ = 0;
  std::size_t applied_ = 0;  // entries of the log
  Instant last_due_ = Timeline::start;
  Instant frozen_{};
  Instant cut_off_{};
  std::deque<std::pair<Connection*, Upstream>> visitors_;  // who came while this server was cut off
  std::set<coordination::SessionId> heard_;                // since the last report to the leader
  std::set<coordination::SessionId> ended_;                // as far as this server knows
  std::vector<Change> scratch_;
};

}  // namespace forelock::model
