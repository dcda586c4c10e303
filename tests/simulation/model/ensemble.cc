#include "model/ensemble.h"

namespace forelock::model {

using coordination::SessionId;

Ensemble::Ensemble(Timeline& timeline, Random& random, EnsembleOptions options)
    : timeline_(timeline), random_(random), options_(std::move(options)) {
  for (int i = 0; i < options_.servers; ++i) {
    const auto role = i == 0 ? Server::Role::leading : Server::Role::following;
    servers_.push_back(std::make_unique<Server>(*this, timeline_, options_.rules, role));
  }
  away_.resize(servers_.size());
}

bool Ensemble::alive(SessionId session) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.live;
}

Connection& Ensemble::connect(int index, ClientEnd& client) {
  connections_.push_back(std::make_unique<Connection>(timeline_, random_, options_.wire, server(index), client));
  return *connections_.back();
}

coordination::ReplyCode Ensemble::administer(coordination::Request request) {
  LogEntry entry;
  entry.request = std::move(request);
  append(std::move(entry));
  return log_.back().code;
}

SessionId Ensemble::open_session(Connection& connection, Span timeout, bool closes) {
  const SessionId id = next_session_++;
  ServerSession& session = sessions_[id];
  session = {timeout, timeline_.now(), true, closes, &connection};
  connection.session = id;
  timeline_.after(timeout, *this, check_session, static_cast<std::uint64_t>(id));
  return id;
}

bool Ensemble::attach(SessionId id, Connection& connection) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || !found->second.live) return false;
  ServerSession& session = found->second;
  if (session.owner != nullptr && session.owner != &connection) {
    static_cast<Server&>(session.owner->server()).forget(*session.owner);
    session.owner->doom();
  }
  session.owner = &connection;
  session.touched = timeline_.now();
  connection.session = id;
  return true;
}

void Ensemble::touch(const Server& server, SessionId id) {
  if (!governs(server)) return;
  const auto found = sessions_.find(id);
  if (found != sessions_.end()) found->second.touched = timeline_.now();
}

void Ensemble::submit(Connection& connection, Upstream message) {
  if (connection.doomed()) return;
  const bool deposed = static_cast<Server&>(connection.server()).deposed();
  if (deposed || !majority_) return strand(connection, std::move(message));
  commit(connection, std::move(message));
}

void Ensemble::commit(Connection& connection, Upstream message) {
  if (!alive(connection.session)) return;
  if (message.kind == Upstream::Kind::close) return end_session(connection.session, &connection, message.number);
  LogEntry entry;
  const bool sync = std::holds_alternative<coordination::Sync>(message.request);
  entry.kind = sync ? LogEntry::Kind::sync : LogEntry::Kind::write;
  entry.session = connection.session;
  entry.privileged = connection.privileged;
  entry.closes = sessions_[connection.session].closes;
  entry.connection = &connection;
  entry.number = message.number;
  entry.tag = message.tag;
  entry.request = std::move(message.request);
  entry.fate = message.fate;
  append(std::move(entry));
}

void Ensemble::end_session(SessionId id, Connection* connection, std::uint64_t number) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || !found->second.live) return;
  found->second.live = false;
  Connection* owner = found->second.owner;
  LogEntry entry;
  entry.kind = LogEntry::Kind::end_session;
  entry.session = id;
  entry.connection = connection;
  entry.number = number;
  entry.bye = connection != nullptr;
  entry.owner = connection == nullptr ? owner : nullptr;
  append(std::move(entry));
}

void Ensemble::append(LogEntry entry) {
  if (entry.kind != LogEntry::Kind::sync) entry.zxid = ++zxid_;
  log_.push_back(std::move(entry));
  const std::size_t index = log_.size() - 1;
  LogEntry& kept = log_.back();
  coordination::Reply reply;
  std::vector<Change> changes;
  servers_[leader_]->execute(kept, reply, changes);
  if (observer_ != nullptr) observer_->applied(kept, changes);
  servers_[leader_]->announce(kept, std::move(reply), changes);
  for (const auto& server : servers_) {
    if (server->role() == Server::Role::following && !server->deposed()) server->expect(index, link_delay());
  }
  watch_containers(changes);
}

void Ensemble::watch_containers(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    if (change.kind != Change::Kind::deleted) continue;
    const auto parent = parent_of(change.path);
    const Node* node = truth().find(parent);
    if (node == nullptr || !node->container || !node->children.empty()) continue;
    if (!random_.chance(options_.container_chance)) continue;
    sweeps_.emplace_back(parent);
    timeline_.after(random_.between(Span{}, options_.longest_container_life), *this, sweep_container,
                    sweeps_.size() - 1);
  }
}

void Ensemble::fire(std::uint32_t what, std::uint64_t detail) {
  if (what == sweep_container) {
    const std::string& path = sweeps_[detail];
    const Node* node = truth().find(path);
    if (node == nullptr || !node->container || !node->children.empty() || node->counter == 0) return;
    if (!majority_) return timeline_.after(options_.longest_container_life, *this, what, detail);
    administer(coordination::Delete{path});
    return;
  }
  if (what != check_session) return fire_division(what, detail);
  const auto id = static_cast<SessionId>(detail);
  const ServerSession& session = sessions_[id];
  if (!session.live || !majority_) return;  // who has the majority next looks at them all
  const Instant due = session.touched + session.timeout;
  if (timeline_.now() < due)
    return timeline_.at(due + random_.between(Span{}, options_.expiry_slack), *this, what, detail);
  end_session(id, nullptr, 0);
}

}  // namespace forelock::model
