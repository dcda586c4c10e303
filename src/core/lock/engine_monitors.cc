// The monitors of an engine: found by name or path, remembered while idle, forgotten when there are too many.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lock/engine.h"
#include "lock/limits.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

Monitor& Engine::monitor_of(const std::string& name) {
  auto& slot = monitors_[name];
  if (!slot) {
    slot = std::make_unique<Monitor>(*this, name, next_ordinal_++);
    by_ordinal_[slot->ordinal()] = slot.get();
  }
  return *slot;
}

Monitor* Engine::monitor_of_path(const std::string& path, std::string* child) const {
  if (path.size() < 2 || path[0] != '/') return nullptr;
  const auto slash = path.find('/', 1);
  const auto found = monitors_.find(path.substr(1, slash == std::string::npos ? slash : slash - 1));
  if (found == monitors_.end()) return nullptr;
  *child = slash == std::string::npos ? std::string() : path.substr(slash + 1);
  return found->second.get();
}

void Engine::became_busy(Monitor& monitor) {
  if (!monitor.idle_position) return;
  idle_.erase(*monitor.idle_position);
  monitor.idle_position.reset();
  idle_bytes_ -= monitor.path().size();
}

void Engine::became_idle(Monitor& monitor) {
  if (monitor.idle_position) return;
  set_poll(monitor, never);
  // What was never watched is worth least, and can be forgotten at any time.
  monitor.idle_position = idle_.insert(monitor.watch_registered() ? idle_.end() : idle_.begin(), &monitor);
  idle_bytes_ += monitor.path().size();
}

void Engine::evict(TimePoint now) {
  const auto too_many = [this] {
    return idle_.size() > options_.remembered_monitors || idle_bytes_ > options_.remembered_bytes ||
           watches_.nearly_full();
  };
  while (!idle_.empty() && too_many()) {
    Monitor& oldest = *idle_.front();
    // A watch that cannot be taken back now would be registered again for as long as its node exists.
    if (oldest.watch_registered() && !connected_) return;
    became_busy(oldest);
    set_poll(oldest, never);
    if (oldest.watch_registered()) {
      watches_.remove(WatchLedger::Kind::data, oldest.path());
      send({.kind = FlightKind::unwatch, .name = oldest.path()}, coordination::RemoveDataWatch{oldest.path()}, now);
    }
    if (oldest.removable() && oldest.lingering()) {
      unused_.forget(oldest.ordinal(), oldest.name(), oldest.mark());
    } else if (oldest.removable()) {
      unused_.remove(oldest.name(), oldest.mark());
    } else {
      unused_.doubt(oldest.name());
    }
    by_ordinal_.erase(oldest.ordinal());
    monitors_.erase(oldest.name());
  }
}

void Engine::knock(std::vector<std::string> names, TimePoint now) {
  enforce_deadline(now);
  if (!connected_ || closed_) return;
  std::erase_if(names, [this](const std::string& name) {
    const auto found = monitors_.find(name);
    return found != monitors_.end() && !found->second->worth_knocking();
  });
  std::vector<std::string> together;
  std::size_t bytes = 0;
  for (std::string& name : names) {
    bytes += 2 * (name.size() + options_.root_bytes + knock_overhead);
    if (together.size() == most_knocks_at_once || bytes > most_knock_bytes) {
      send_knock(std::exchange(together, {}), 0, now);
      bytes = 2 * (name.size() + options_.root_bytes + knock_overhead);
    }
    together.push_back(std::move(name));
  }
  send_knock(std::move(together), 0, now);
}

void Engine::send_knock(std::vector<std::string> names, int refusals, TimePoint now) {
  if (names.empty()) return;
  coordination::Transaction transaction;
  transaction.operations.reserve(2 * names.size());
  for (const std::string& name : names) {
    const std::string path = "/" + name + "/" + std::string(knock_name);
    transaction.operations.emplace_back(coordination::Create{path, "", coordination::CreateMode::ephemeral});
    transaction.operations.emplace_back(coordination::Delete{path});
    if (const auto found = monitors_.find(name); found != monitors_.end()) found->second->knock_sent();
  }
  send({.kind = FlightKind::knock, .names = std::move(names), .refusals = refusals}, std::move(transaction), now);
}

// A monitor that is not there fails the others, too. All that stand before it are there.
void Engine::on_knocked(const Flight& flight, const coordination::Reply& reply, TimePoint now) {
  if (reply.ok()) {
    for (const std::string& name : flight.names) {
      if (const auto found = monitors_.find(name); found != monitors_.end()) found->second->knocked();
    }
  }
  if (effect_of(reply.code) != coordination::Effect::not_applied || !reply.refused_operation) return;
  std::vector<std::string> names = flight.names;
  const auto refused = names.begin() + static_cast<std::ptrdiff_t>(*reply.refused_operation / 2);
  const bool enough = flight.refusals == most_knocks_in_vain;
  names.erase(refused, enough ? names.end() : refused + 1);
  send_knock(std::move(names), flight.refusals + 1, now);
}

void Engine::let_linger(const Monitor& monitor, TimePoint now) {
  unused_.let_linger(monitor.ordinal(), now);
}

// At version 0 alone: where an administrator has removed a lock by force the node's data were set, so that it stays,
// and with it the names of its nodes are not given again while the removed holder's release may be under way.
void Engine::remove_unused(TimePoint now) {
  if (!connected_ || closed_ || !unused_.enabled()) return;
  for (const std::uint64_t ordinal : unused_.lingered(now)) {
    const auto found = by_ordinal_.find(ordinal);
    if (found == by_ordinal_.end()) continue;
    Monitor& monitor = *found->second;
    if (monitor.removable() && (monitor.used_since_last_look() || !monitor.idle_position)) {
      unused_.let_linger(ordinal, now);
      continue;
    }
    monitor.stopped_lingering();
    if (monitor.removable() && !mutated(Mutation::unused_left)) unused_.remove(monitor.name(), monitor.mark());
  }
  using Mark = UnusedMonitors::Mark;
  const auto doubtful = [this, now](const std::string& name) { return may_go(name, Mark::doubtful, now); };
  for (const std::string& name : unused_.take_doubtful(now, doubtful)) {
    send({.kind = FlightKind::look_at_unused, .name = name}, coordination::Get{"/" + name, false}, now);
  }
  send_removal(unused_.take(now, [this, now](const std::string& name) { return may_go(name, Mark::seen, now); }), now);
}

// Whether what was to be removed still is, now that its mark was seen, or may be looked for.
bool Engine::may_go(const std::string& name, UnusedMonitors::Mark mark, TimePoint now) {
  const auto found = monitors_.find(name);
  if (found == monitors_.end()) return true;
  Monitor& monitor = *found->second;
  if (!monitor.idle_position) monitor.linger_on(now);
  if (!monitor.idle_position || !monitor.removable()) return false;
  const bool unread = mutated(Mutation::removed_unread) || monitor.removable_unread();
  if (mark == UnusedMonitors::Mark::doubtful || unread) return true;
  unused_.remove(name, UnusedMonitors::Mark::doubtful);
  return false;
}

void Engine::on_looked_at_unused(const std::string& name, const coordination::Reply& reply, TimePoint now) {
  if (effect_of(reply.code) == coordination::Effect::unknown) return unused_.look_lost(name, now);
  unused_.looked(name);
  if (const auto found = monitors_.find(name); found != monitors_.end()) found->second->looked_at(reply);
  if (carries_mark(reply)) {
    unused_.remove(name);
  } else {
    unused_.doubt(name);  // it may have been noted a second time meanwhile
  }
}

// With the session's last requests. A lock that is being released is gone before them.
void Engine::remove_unused_last(TimePoint now) {
  if (!connected_ || !unused_.enabled()) return;
  for (const auto& [name, monitor] : monitors_) {
    if (monitor->removable_unread() && monitor->ends_with_releases()) unused_.remove(name);
  }
  const auto wanted = [this](const std::string& name) {
    const auto found = monitors_.find(name);
    return found == monitors_.end() || (found->second->ends_with_releases() && found->second->removable_unread());
  };
  for (std::size_t requests = 0; requests < most_last_removals; ++requests) {
    const std::size_t most = requests < most_removed_alone ? 1 : most_removed_by_last;
    send_removal(unused_.take_last(most, wanted), now);
  }
}

void Engine::send_removal(const std::vector<std::string>& names, TimePoint now) {
  if (names.empty()) return;
  coordination::Transaction transaction;
  const std::int32_t version = mutated(Mutation::removed_at_any_version) ? coordination::any_version : 0;
  for (const std::string& name : names) {
    transaction.operations.emplace_back(coordination::Delete{"/" + name, version});
    if (const auto found = monitors_.find(name); found != monitors_.end()) found->second->removal_sent();
  }
  send({.kind = FlightKind::remove_unused}, std::move(transaction), now);
}

void Engine::send_single_removal(const std::string& name, TimePoint now) {
  const std::int32_t version = mutated(Mutation::removed_at_any_version) ? coordination::any_version : 0;
  if (!may_go(name, UnusedMonitors::Mark::seen, now)) return;
  if (const auto found = monitors_.find(name); found != monitors_.end()) found->second->removal_sent();
  send({.kind = FlightKind::remove_unused, .name = name}, coordination::Delete{"/" + name, version}, now);
}

void Engine::on_removed_unused(const Flight& flight, const coordination::Reply& reply, TimePoint now) {
  const bool single = !flight.name.empty();
  const auto tell = [this](const std::string& name) {
    unused_.doubt(name);  // it may have been noted a second time meanwhile
    if (const auto found = monitors_.find(name); found != monitors_.end()) found->second->removed();
  };
  switch (coordination::effect_of(reply.code)) {
    case coordination::Effect::applied:
      if (single) return tell(flight.name);
      for (const std::string& name : unused_.removed()) tell(name);
      break;
    case coordination::Effect::not_applied:
      if (reply.code == coordination::ReplyCode::no_auth) {
        unused_.give_up();
        return output_.removal_denied();
      }
      if (single) return;
      if (mutated(Mutation::refusal_of_one_forgets_all)) {
        unused_.removed();
        return;
      }
      for (const std::string& name : unused_.refused(reply.refused_operation)) send_single_removal(name, now);
      break;
    case coordination::Effect::unknown:
      if (single) return unused_.remove(flight.name, UnusedMonitors::Mark::doubtful);
      unused_.unknown(now);
      break;
  }
}

}  // namespace forelock::lock
