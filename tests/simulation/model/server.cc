#include "model/server.h"

#include "model/ensemble.h"

namespace forelock::model {

using coordination::WatchEvent;

Server::Server(Ensemble& ensemble, Timeline& timeline, const TreeRules& rules, Role role)
    : ensemble_(ensemble), timeline_(timeline), tree_(rules), role_(role) {}

void Server::stop_serving() {
  role_ = Role::looking;
  heard_.clear();
  for (Connection* connection : ensemble_.connections_of(*this)) hang_up(*connection);
}

void Server::serve(Role role) {
  role_ = role;
  deposed_ = false;
  cut_off_ = frozen_ = {};
  advance(ensemble_.committed());
}

void Server::receive(Connection& connection, Upstream message) {
  if (role_ == Role::looking) return turn_away(connection);
  if (message.kind == Upstream::Kind::connect) return connect(connection, std::move(message));
  if (ended_.contains(connection.session)) return hang_up(connection);
  heard_of(connection.session);
  switch (message.kind) {
    case Upstream::Kind::ping: {
      Downstream pong;
      pong.zxid = zxid_;
      return connection.reply(std::move(pong));
    }
    case Upstream::Kind::set_watches:
      return set_watches(connection, message.watches);
    default:
      break;
  }
  const bool read = message.kind == Upstream::Kind::request &&
                    (std::holds_alternative<coordination::Get>(message.request) ||
                     std::holds_alternative<coordination::Exists>(message.request) ||
                     std::holds_alternative<coordination::List>(message.request) ||
                     std::holds_alternative<coordination::RemoveDataWatch>(message.request));
  if (read) {
    connection.waiting.push_back({false, std::move(message)});
    return drain(connection);
  }
  Connection::Waiting write{true, {}};
  write.message.number = message.number;
  connection.waiting.push_back(std::move(write));
  if (role_ == Role::leading) {
    ensemble_.submit(connection, std::move(message));
  } else {
    const Span standstill = cut_off_ > timeline_.now() ? cut_off_ - timeline_.now() : Span{};
    connection.forward(std::move(message), standstill + ensemble_.link_delay());
  }
}

void Server::forwarded(Connection& connection) {
  Upstream message = std::move(connection.on_forward.front());
  connection.on_forward.pop_front();
  ensemble_.submit(connection, std::move(message));
}

// Only the leader knows which sessions there are.
void Server::connect(Connection& connection, Upstream message) {
  if (cut_off_ <= timeline_.now()) return admit(connection, message);
  visitors_.emplace_back(&connection, std::move(message));
  timeline_.at(cut_off_, *this, visitor_due, visitors_.size() - 1);
}

void Server::admit(Connection& connection, const Upstream& message) {
  if (connection.doomed() || connection.abandoned()) return;
  if (role_ == Role::looking) return turn_away(connection);
  Downstream answer;
  answer.session = connection.session;
  if (!ensemble_.governs(*this)) {
    // The leader here takes for alive what was alive when it lost the others. New sessions need them.
    if (connection.session == 0) return;
    const bool knows = message.watches.seen_zxid <= zxid_ && ensemble_.known_to_the_deposed(connection.session);
    answer.kind = knows ? Downstream::Kind::connected : Downstream::Kind::refused;
  } else if (connection.session == 0) {
    if (!ensemble_.has_majority()) return;
    answer.kind = Downstream::Kind::connected;
    answer.session = ensemble_.open_session(connection, message.timeout, message.closes);
  } else if (!ensemble_.alive(connection.session)) {
    answer.kind = Downstream::Kind::expired;
  } else if (message.watches.seen_zxid > zxid_) {
    answer.kind = Downstream::Kind::refused;  // this server knows less than the client does
  } else {
    ensemble_.attach(connection.session, connection);
    answer.kind = Downstream::Kind::connected;
  }
  answer.zxid = 0;
  connection.reply(std::move(answer));
}

void Server::execute(LogEntry& entry, coordination::Reply& reply, std::vector<Change>& changes) {
  const bool refused = entry.fate.refuse != coordination::ReplyCode::ok && !entry.fate.apply_anyway;
  if (entry.kind == LogEntry::Kind::end_session) {
    tree_.end_session(entry.session, entry.zxid, changes);
    entry.effective = true;
  } else if (entry.kind == LogEntry::Kind::write && !refused) {
    const Writer writer{entry.session, entry.privileged, entry.closes, entry.zxid};
    entry.code = tree_.write(entry.request, writer, reply, changes);
    entry.effective = entry.code == coordination::ReplyCode::ok;
    entry.refused_operation = reply.refused_operation;
  }
  if (entry.fate.refuse != coordination::ReplyCode::ok) {
    reply = {};
    reply.code = entry.code = entry.fate.refuse;
  }
}

void Server::announce(const LogEntry& entry, coordination::Reply reply, const std::vector<Change>& changes) {
  if (entry.kind != LogEntry::Kind::sync) zxid_ = entry.zxid;
  ++applied_;
  for (const Change& change : changes) trigger(change);
  if (entry.kind == LogEntry::Kind::end_session) ended_.insert(entry.session);
  if (entry.owner != nullptr && &entry.owner->server() == this && !entry.owner->doomed()) hang_up(*entry.owner);
  Connection* connection = entry.connection;
  if (connection == nullptr || connection->doomed() || &connection->server() != this) return;
  if (connection->waiting.empty() || connection->waiting.front().message.number != entry.number) return;
  connection->waiting.pop_front();
  Downstream answer;
  answer.kind = entry.bye ? Downstream::Kind::closed : Downstream::Kind::reply;
  answer.number = entry.number;
  answer.zxid = zxid_;
  answer.reply = std::move(reply);
  connection->reply(std::move(answer));
  drain(*connection);
}

void Server::expect(std::size_t index, Span delay) {
  last_due_ = std::max({last_due_, timeline_.now() + delay, frozen_, cut_off_});
  timeline_.at(last_due_, *this, entry_due, index);
}

void Server::answer_sync(Connection& connection, std::uint64_t number) {
  if (connection.doomed() || connection.waiting.empty() || connection.waiting.front().message.number != number) return;
  connection.waiting.pop_front();
  Downstream answer;
  answer.kind = Downstream::Kind::reply;
  answer.number = number;
  answer.zxid = zxid_;
  connection.reply(std::move(answer));
  drain(connection);
}

void Server::fire(std::uint32_t what, std::uint64_t detail) {
  if (cut_off_ > timeline_.now()) return timeline_.at(cut_off_, *this, what, detail);
  if (what == report_due) return report();
  if (what == visitor_due) return admit(*visitors_[detail].first, visitors_[detail].second);
  if (frozen_ > timeline_.now()) return timeline_.at(frozen_, *this, what, detail);
  advance(static_cast<std::size_t>(detail) + 1);
}

// The leader hears of its own clients at once, of a follower's when that reports.
void Server::heard_of(coordination::SessionId session) {
  if (role_ == Role::leading) return ensemble_.touch(*this, session);
  if (heard_.empty()) {
    const Span interval = ensemble_.report_interval();
    timeline_.after(interval - timeline_.now().time_since_epoch() % interval, *this, report_due);
  }
  heard_.insert(session);
}

void Server::report() {
  for (const coordination::SessionId session : heard_) ensemble_.touch(*this, session);
  heard_.clear();
}

void Server::hang_up(Connection& connection) {
  Downstream message;
  message.kind = Downstream::Kind::hung_up;
  connection.reply(std::move(message));
  forget(connection);
  connection.doom();
}

void Server::turn_away(Connection& connection) {
  Downstream answer;
  answer.kind = Downstream::Kind::refused;
  connection.reply(std::move(answer));
}

void Server::advance(std::size_t end) {
  while (applied_ < end) {
    const LogEntry& entry = ensemble_.entry(applied_);
    coordination::Reply reply;
    scratch_.clear();
    if (entry.kind == LogEntry::Kind::end_session) {
      tree_.end_session(entry.session, entry.zxid, scratch_);
    } else if (entry.effective) {
      const Writer writer{entry.session, entry.privileged, entry.closes, entry.zxid};
      tree_.write(entry.request, writer, reply, scratch_);
    }
    if (!entry.effective || entry.code != coordination::ReplyCode::ok) {
      reply = {};
      reply.code = entry.code;
      if (entry.fate.refuse == coordination::ReplyCode::ok) reply.refused_operation = entry.refused_operation;
    }
    announce(entry, std::move(reply), scratch_);
  }
}

void Server::drain(Connection& connection) {
  while (!connection.doomed() && !connection.waiting.empty() && !connection.waiting.front().write) {
    const Upstream message = std::move(connection.waiting.front().message);
    connection.waiting.pop_front();
    Downstream answer;
    answer.kind = Downstream::Kind::reply;
    answer.number = message.number;
    answer.zxid = zxid_;
    if (message.fate.refuse != coordination::ReplyCode::ok) {
      answer.reply.code = message.fate.refuse;
    } else {
      answer.reply = read(connection, message);
    }
    connection.reply(std::move(answer));
  }
}

coordination::Reply Server::read(Connection& connection, const Upstream& message) {
  if (const auto* removal = std::get_if<coordination::RemoveDataWatch>(&message.request)) {
    watches_.remove_data(removal->path, connection);
    return {};
  }
  coordination::Reply reply = tree_.read(message.request, connection.privileged);
  if (const auto* get = std::get_if<coordination::Get>(&message.request)) {
    if (get->watch && reply.ok()) watches_.add_data(get->path, connection);
  } else if (const auto* exists = std::get_if<coordination::Exists>(&message.request)) {
    const bool known = reply.ok() || reply.code == coordination::ReplyCode::no_node;
    if (exists->watch && known) watches_.add_data(exists->path, connection);
  } else if (const auto* list = std::get_if<coordination::List>(&message.request)) {
    if (list->watch && reply.ok()) watches_.add_children(list->path, connection);
  }
  return reply;
}

void Server::set_watches(Connection& connection, const WatchSet& watches) {
  for (const auto& path : watches.data) {
    const Node* node = tree_.find(path);
    if (node == nullptr) {
      notify(connection, WatchEvent::Kind::deleted, path);
    } else if (node->mzxid > watches.seen_zxid) {
      notify(connection, WatchEvent::Kind::data_changed, path);
    } else {
      watches_.add_data(path, connection);
    }
  }
  for (const auto& path : watches.absent) {
    if (tree_.find(path) != nullptr) {
      notify(connection, WatchEvent::Kind::created, path);
    } else {
      watches_.add_data(path, connection);
    }
  }
  for (const auto& path : watches.children) {
    const Node* node = tree_.find(path);
    if (node == nullptr) {
      notify(connection, WatchEvent::Kind::deleted, path);
    } else if (node->pzxid > watches.seen_zxid) {
      notify(connection, WatchEvent::Kind::children_changed, path);
    } else {
      watches_.add_children(path, connection);
    }
  }
}

void Server::trigger(const Change& change) {
  const auto parent = parent_of(change.path);
  switch (change.kind) {
    case Change::Kind::created:
      for (Connection* one : watches_.take_data(change.path)) notify(*one, WatchEvent::Kind::created, change.path);
      break;
    case Change::Kind::data_changed:
      for (Connection* one : watches_.take_data(change.path)) notify(*one, WatchEvent::Kind::data_changed, change.path);
      return;
    case Change::Kind::deleted: {
      auto watchers = watches_.take_data(change.path);
      for (Connection* one : watches_.take_children(change.path)) {
        if (std::find(watchers.begin(), watchers.end(), one) == watchers.end()) watchers.push_back(one);
      }
      for (Connection* one : watchers) notify(*one, WatchEvent::Kind::deleted, change.path);
      break;
    }
  }
  for (Connection* one : watches_.take_children(parent)) notify(*one, WatchEvent::Kind::children_changed, parent);
}

void Server::notify(Connection& connection, WatchEvent::Kind kind, std::string_view path) {
  Downstream message;
  message.kind = Downstream::Kind::watch;
  message.watch = {kind, std::string(path)};
  connection.reply(std::move(message));
}

}  // namespace forelock::model
