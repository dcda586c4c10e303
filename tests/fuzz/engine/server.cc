#include "engine/server.h"

namespace forelock::fuzz {

using coordination::Request;
using coordination::WatchEvent;

namespace {

bool is_read(const Request& request) {
  return std::holds_alternative<coordination::Get>(request) || std::holds_alternative<coordination::Exists>(request) ||
         std::holds_alternative<coordination::List>(request);
}

}  // namespace

SessionId Server::open(TimePoint now) {
  const SessionId session = next_session_++;
  sessions_[session] = {now, {}};
  return session;
}

coordination::Reply Server::answer(SessionId session, const Request& request, TimePoint now,
                                   std::vector<Notice>& notices) {
  coordination::Reply reply;
  if (const auto* removal = std::get_if<coordination::RemoveDataWatch>(&request)) {
    hear(session, now, false);
    data_watches_[removal->path].erase(session);
    return reply;
  }
  if (is_read(request)) {
    hear(session, now, false);
    reply = tree_.read(request, true);
    watch(session, request, reply);
    return reply;
  }
  hear(session, now, !std::holds_alternative<coordination::Sync>(request));
  if (std::holds_alternative<coordination::Sync>(request)) return reply;
  std::vector<model::Change> changes;
  tree_.write(request, {.session = session, .zxid = ++zxid_}, reply, changes);
  fire(changes, notices);
  return reply;
}

bool Server::may_end(SessionId session, TimePoint now) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && now >= found->second.reported + session_timeout;
}

// A write comes to the leader behind the reports that were due before.
void Server::hear(SessionId id, TimePoint now, bool write) {
  Session& session = sessions_[id];
  while (write && !session.heard.empty() && session.heard.front() + session_timeout / 4 <= now) {
    session.reported = session.heard.front();
    session.heard.pop_front();
  }
  session.heard.push_back(now);
}

void Server::end(SessionId session, std::vector<Notice>& notices) {
  sessions_.erase(session);
  for (Watches* watches : {&data_watches_, &child_watches_}) {
    for (auto& [path, watchers] : *watches) watchers.erase(session);
  }
  std::vector<model::Change> changes;
  tree_.end_session(session, ++zxid_, changes);
  fire(changes, notices);
}

void Server::administer(const Request& request, std::vector<Notice>& notices) {
  coordination::Reply reply;
  std::vector<model::Change> changes;
  tree_.write(request, {.zxid = ++zxid_}, reply, changes);
  fire(changes, notices);
}

void Server::watch(SessionId session, const Request& request, const coordination::Reply& reply) {
  if (const auto* get = std::get_if<coordination::Get>(&request)) {
    if (get->watch && reply.ok()) data_watches_[get->path].insert(session);
  } else if (const auto* exists = std::get_if<coordination::Exists>(&request)) {
    const bool known = reply.ok() || reply.code == coordination::ReplyCode::no_node;
    if (exists->watch && known) data_watches_[exists->path].insert(session);
  } else if (const auto* list = std::get_if<coordination::List>(&request)) {
    if (list->watch && reply.ok()) child_watches_[list->path].insert(session);
  }
}

void Server::take(Watches& watches, const std::string& path, WatchEvent::Kind kind, std::vector<Notice>& notices) {
  const auto found = watches.find(path);
  if (found == watches.end()) return;
  for (const SessionId session : std::exchange(found->second, {})) notices.push_back({session, {kind, path}});
}

void Server::fire(const std::vector<model::Change>& changes, std::vector<Notice>& notices) {
  for (const model::Change& change : changes) {
    switch (change.kind) {
      case model::Change::Kind::data_changed:
        take(data_watches_, change.path, WatchEvent::Kind::data_changed, notices);
        continue;
      case model::Change::Kind::created:
        take(data_watches_, change.path, WatchEvent::Kind::created, notices);
        break;
      case model::Change::Kind::deleted:
        take(data_watches_, change.path, WatchEvent::Kind::deleted, notices);
        take(child_watches_, change.path, WatchEvent::Kind::deleted, notices);
        break;
    }
    const std::string parent(model::parent_of(change.path));
    take(child_watches_, parent, WatchEvent::Kind::children_changed, notices);
  }
}

}  // namespace forelock::fuzz
