// How an ensemble loses its leader and finds another one.
#include "model/ensemble.h"

namespace forelock::model {

using coordination::SessionId;

bool Ensemble::divide(const Division& division) {
  if (!majority_ || servers_[leader_]->role() != Server::Role::leading) return false;
  for (const auto& server : servers_) {
    if (server->deposed()) return false;  // of the division before
  }
  division_ = division;
  // Both sides notice before they hear each other again. (A division that heals unnoticed is a delay between servers: a
  // fault of its own.)
  division_.followers_notice = std::min(division.followers_notice, division.heals);
  division_.leader_notices = std::min(division.leader_notices, division.heals);
  ++divisions_;
  divided_at_ = timeline_.now();
  deposed_ = leader_;
  majority_ = elected_ = write_stranded_ = false;
  unknown_to_the_deposed_ = next_session_;
  stranded_.clear();
  note("the leader has lost the majority");
  servers_[leader_]->lose_majority();
  std::size_t others = servers_.size() - 1;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Server& server = *servers_[i];
    if (i == leader_ || server.role() != Server::Role::following) continue;
    if (others > 1 && random_.chance(division.left_behind)) {
      --others;
      server.lose_majority();
    } else if (division.silent) {
      server.cut_off_until(timeline_.now() + division.heals);
    }
  }
  timeline_.after(division_.followers_notice, *this, followers_notice, divisions_);
  timeline_.after(division_.leader_notices, *this, leader_notices, divisions_);
  timeline_.after(division_.heals, *this, heals, divisions_);
  return true;
}

void Ensemble::isolate(int index, Span duration) {
  Server& server = *servers_[static_cast<std::size_t>(index)];
  if (server.role() != Server::Role::following || server.deposed() || !majority_) return;
  server.cut_off_until(timeline_.now() + duration);
  timeline_.after(options_.sync_limit, *this, follower_limit, static_cast<std::uint64_t>(index));
}

bool Ensemble::known_to_the_deposed(SessionId session) const {
  return session < unknown_to_the_deposed_ && !servers_[deposed_]->has_ended(session);
}

std::vector<Connection*> Ensemble::connections_of(const Server& server) const {
  std::vector<Connection*> found;
  for (const auto& connection : connections_) {
    if (&connection->server() == &server && !connection->doomed()) found.push_back(connection.get());
  }
  return found;
}

void Ensemble::fire_division(std::uint32_t what, std::uint64_t detail) {
  if (what == follower_limit) {
    const Instant until = servers_[detail]->cut_off();
    if (until > timeline_.now() && majority_) stop(detail, until);
    return;
  }
  if (what == join_due) return join();
  if (detail != divisions_) return;
  switch (what) {
    case followers_notice:
      return followers_look();
    case leader_notices:
      note("the leader that was notices it");
      for (std::size_t i = 0; i < servers_.size(); ++i) {
        if (servers_[i]->deposed()) stop(i, divided_at_ + division_.heals);
      }
      return;
    case election:
      return elect();
    default:
      return join();
  }
}

// Out of service until then at least.
void Ensemble::stop(std::size_t server, Instant until) {
  if (servers_[server]->role() == Server::Role::looking) return;
  servers_[server]->stop_serving();
  away_[server] = std::max(away_[server], until);
  timeline_.at(until, *this, join_due);
}

void Ensemble::followers_look() {
  noticed_at_ = timeline_.now();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (i != deposed_ && !servers_[i]->deposed()) {
      // What a silent division has cut off finds the others at once; another one only when that is over.
      stop(i, division_.silent ? timeline_.now() : servers_[i]->cut_off());
    }
  }
  timeline_.after(division_.election, *this, election, divisions_);
}

void Ensemble::elect() {
  std::vector<std::size_t> candidates;
  Instant soonest = Instant::max();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i]->role() != Server::Role::looking) continue;
    if (away_[i] <= timeline_.now()) candidates.push_back(i);
    soonest = std::min(soonest, away_[i]);
  }
  if (candidates.empty()) {
    const Instant next = soonest == Instant::max() ? divided_at_ + division_.heals : soonest;
    return timeline_.at(std::max(next, timeline_.now() + division_.election), *this, election, divisions_);
  }
  leader_ = candidates[random_.below(candidates.size())];
  note("another leader is elected");
  zxid_ = ((zxid_ >> 32) + 1) << 32;
  servers_[leader_]->serve(Server::Role::leading);
  majority_ = elected_ = true;
  // Of what came to the old leader before its followers left it, they may have logged the first ones.
  std::size_t reached = 0;
  while (reached < stranded_.size() && stranded_[reached].at < noticed_at_) ++reached;
  reached = random_.below(reached + 1);
  for (std::size_t i = 0; i < reached; ++i) commit(*stranded_[i].connection, std::move(stranded_[i].message));
  stranded_.clear();
  for (auto& [id, session] : sessions_) session.touched = timeline_.now();
  check_all_sessions();
  join();
}

// Who looks for a leader finds it.
void Ensemble::join() {
  if (!majority_) return;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i]->role() != Server::Role::looking || away_[i] > timeline_.now()) continue;
    servers_[i]->serve(Server::Role::following);
  }
}

void Ensemble::check_all_sessions() {
  std::vector<SessionId> live;
  for (const auto& [id, session] : sessions_) {
    if (session.live) live.push_back(id);
  }
  std::sort(live.begin(), live.end());
  for (const SessionId id : live) {
    const Instant due = sessions_[id].touched + sessions_[id].timeout;
    timeline_.at(due + random_.between(Span{}, options_.expiry_slack), *this, check_session,
                 static_cast<std::uint64_t>(id));
  }
}

void Ensemble::strand(Connection& connection, Upstream message) {
  const bool sync =
      message.kind == Upstream::Kind::request && std::holds_alternative<coordination::Sync>(message.request);
  Server& server = static_cast<Server&>(connection.server());
  // A leader that waits for the acknowledgement of no write takes itself for up to date.
  if (sync && server.deposed() && !write_stranded_) return server.answer_sync(connection, message.number);
  if (!sync) write_stranded_ = true;
  if (!elected_) stranded_.push_back({timeline_.now(), &connection, std::move(message)});
}

}  // namespace forelock::model
