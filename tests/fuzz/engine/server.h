// A ZooKeeper of one server: a tree, sessions, one-shot watches. What it answers is always consistent.
#pragma once

#include "coordination/session.h"
#include "lock/engine_types.h"
#include "model/tree.h"

namespace forelock::fuzz {

using coordination::SessionId;
using lock::TimePoint;

inline constexpr std::chrono::milliseconds session_timeout{400};

struct Notice {
  SessionId session;
  coordination::WatchEvent event;
};

class Server {
 public:
  explicit Server(model::TreeRules rules) : rules_(std::move(rules)), tree_(rules_) {}

  SessionId open(TimePoint now);
  // Its client has connected again.
  void resume(SessionId session, TimePoint now) { sessions_[session] = {now, {}}; }
  bool alive(SessionId session) const { return sessions_.contains(session); }
  // Does what is asked for. The watches that fire are appended to `notices`.
  coordination::Reply answer(SessionId session, const coordination::Request& request, TimePoint now,
                             std::vector<Notice>& notices);
  // Whether the leader may end the session by now. A follower tells it of what it has heard up to a quarter of the
  // time-out later, and not at all if it dies before.
  bool may_end(SessionId session, TimePoint now) const;
  void end(SessionId session, std::vector<Notice>& notices);
  // By somebody who is no client of ours.
  void administer(const coordination::Request& request, std::vector<Notice>& notices);

  const model::Tree& tree() const { return tree_; }

 private:
  using Watches = std::map<std::string, std::set<SessionId>>;

  struct Session {
    TimePoint reported;           // the leader has heard of it since, for certain
    std::deque<TimePoint> heard;  // what the follower alone knows
  };

  void fire(const std::vector<model::Change>& changes, std::vector<Notice>& notices);
  void hear(SessionId session, TimePoint now, bool write);
  static void take(Watches& watches, const std::string& path, coordination::WatchEvent::Kind kind,
                   std::vector<Notice>& notices);
  void watch(SessionId session, const coordination::Request& request, const coordination::Reply& reply);

  const model::TreeRules rules_;
  model::Tree tree_;
  std::int64_t zxid_ = 0x100;
  SessionId next_session_ = 1;
  std::map<SessionId, Session> sessions_;
  Watches data_watches_;
  Watches child_watches_;
};

}  // namespace forelock::fuzz
