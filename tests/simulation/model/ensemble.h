// The servers, the leader's log and the sessions: an in-memory ZooKeeper under virtual time.
#pragma once

#include "model/connection.h"
#include "model/server.h"
#include "model/tree.h"

namespace forelock::model {

// A write as the leader has ordered it. The same writes at the same zxids make the same tree on every server.
struct LogEntry {
  enum class Kind { write, sync, end_session };
  Kind kind = Kind::write;
  std::int64_t zxid = 0;
  coordination::SessionId session = 0;
  bool privileged = true;
  bool closes = false;
  Connection* connection = nullptr;  // where it came from; null: from inside
  std::uint64_t number = 0;
  std::uint64_t tag = 0;
  bool bye = false;             // end_session: at the client's wish
  Connection* owner = nullptr;  // end_session: otherwise; its server hangs up when it hears of the end
  coordination::Request request;
  Fate fate;
  bool effective = false;  // the tree has changed
  coordination::ReplyCode code = coordination::ReplyCode::ok;
  std::optional<std::size_t> refused_operation = {};
};

// How the ensemble loses its leader. From now on the leader has no majority, and both sides find out on their own. If
// they hear each other again before either has, nothing but time is lost.
struct Division {
  Span followers_notice{};   // then they drop their clients and elect another leader,
  Span election{};           // which takes so long. It gives every session a full time-out from then on.
  Span leader_notices{};     // until then it answers whatever takes no majority
  Span heals{};              // both sides hear each other again; who was left behind becomes a follower
  bool silent = false;       // until they notice, followers go on answering what they can
  double left_behind = 0.0;  // how probably a follower stays with the leader (one does not)
};

// Told of everything the leader does, in the order of zxids.
class Observer {
 public:
  virtual void applied(const LogEntry& entry, const std::vector<Change>& changes) = 0;
  virtual void noted(const char* /*what*/) {}  // for the timeline

 protected:
  ~Observer() = default;
};

struct EnsembleOptions {
  int servers = 3;
  WireOptions wire;
  // Between a follower and the leader, either way.
  Span shortest_link = std::chrono::microseconds(20);
  Span longest_link = std::chrono::microseconds(600);
  // How often a follower tells the leader which sessions it has heard of: half a tick. The requests that it passes on
  // in between tell the leader nothing about their session.
  Span report_interval = std::chrono::milliseconds(100);
  // How long a follower that hears nothing of its leader goes on serving.
  Span sync_limit = std::chrono::milliseconds(1000);
  // How much later than its time-out a session may end.
  Span expiry_slack = std::chrono::milliseconds(20);
  // An empty container is removed after some of this, if the manager comes by at all.
  double container_chance = 0.5;
  Span longest_container_life = std::chrono::milliseconds(50);
  TreeRules rules;
};

class Ensemble final : public Actor {
 public:
  Ensemble(Timeline& timeline, Random& random, EnsembleOptions options);
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  void set_observer(Observer* observer) { observer_ = observer; }
  Timeline& timeline() { return timeline_; }
  Random& random() { return random_; }
  int servers() const { return options_.servers; }
  Server& server(int index) { return *servers_[static_cast<std::size_t>(index)]; }
  // What is committed. The leader elected last has applied all of it.
  const Tree& truth() const { return servers_[leader_]->tree(); }
  int leader() const { return static_cast<int>(leader_); }
  // Whether writes are answered at present.
  bool has_majority() const { return majority_; }
  std::int64_t zxid() const { return zxid_; }
  bool alive(coordination::SessionId session) const;
  // For tests that set a limit while the ensemble runs.
  TreeRules& rules() { return options_.rules; }

  Connection& connect(int server, ClientEnd& client);
  // False, and nothing happens, while there is no majority.
  bool divide(const Division& division);
  // A follower and the leader hear nothing of each other until then.
  void isolate(int server, Span duration);
  // A write by somebody outside the simulation, straight at the leader. There is a majority.
  coordination::ReplyCode administer(coordination::Request request);
  // Ends a session as if its time had run out.
  void expire(coordination::SessionId session) { end_session(session, nullptr, 0); }

  // --- for the servers ---
  coordination::SessionId open_session(Connection& connection, Span timeout, bool closes);
  bool attach(coordination::SessionId session, Connection& connection);
  void touch(const Server& server, coordination::SessionId session);
  Span report_interval() const { return options_.report_interval; }
  void submit(Connection& connection, Upstream message);
  const LogEntry& entry(std::size_t index) const { return log_[index]; }
  std::size_t committed() const { return log_.size(); }
  // Whether what a server hears of sessions counts: no longer once another leader than its own has been elected.
  bool governs(const Server& server) const { return !server.deposed() || !elected_; }
  bool known_to_the_deposed(coordination::SessionId session) const;
  std::vector<Connection*> connections_of(const Server& server) const;
  Span link_delay() { return random_.between(options_.shortest_link, options_.longest_link); }

  void fire(std::uint32_t what, std::uint64_t detail) override;

 private:
  struct ServerSession {
    Span timeout{};
    Instant touched{};
    bool live = true;
    bool closes = false;
    Connection* owner = nullptr;
  };
  // A request that has come to a leader without a majority.
  struct Stranded {
    Instant at{};
    Connection* connection = nullptr;
    Upstream message;
  };
  enum What : std::uint32_t {
    check_session,
    sweep_container,
    follower_limit,
    join_due,
    followers_notice,
    leader_notices,
    election,
    heals
  };

  void fire_division(std::uint32_t what, std::uint64_t detail);
  void strand(Connection& connection, Upstream message);
  void commit(Connection& connection, Upstream message);
  void stop(std::size_t server, Instant until);
  void followers_look();
  void elect();
  void join();
  void check_all_sessions();
  void note(const char* what) {
    if (observer_ != nullptr) observer_->noted(what);
  }
  void append(LogEntry entry);
  void end_session(coordination::SessionId session, Connection* connection, std::uint64_t number);
  void watch_containers(const std::vector<Change>& changes);

  Timeline& timeline_;
  Random& random_;
  EnsembleOptions options_;
  Observer* observer_ = nullptr;
  std::vector<std::unique_ptr<Server>> servers_;
  std::deque<LogEntry> log_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unordered_map<coordination::SessionId, ServerSession> sessions_;
  std::vector<std::string> sweeps_;
  coordination::SessionId next_session_ = 0x100000001;
  std::int64_t zxid_ = 0x100;

  std::size_t leader_ = 0;
  bool majority_ = true;
  // The last division: its number, the leader it deposed, the first session that this one does not know, what has come
  // to it since, and whether a write was among that.
  Division division_;
  std::uint64_t divisions_ = 0;
  std::size_t deposed_ = 0;
  bool elected_ = true;
  Instant divided_at_{};
  Instant noticed_at_{};
  coordination::SessionId unknown_to_the_deposed_ = 0;
  std::vector<Stranded> stranded_;
  bool write_stranded_ = false;
  std::vector<Instant> away_;  // by server: not to be had before
};

}  // namespace forelock::model
