// The monitors of an engine: found by name or path, remembered while idle, forgotten when there are too many.
#include <memory>
#include <string>

#include "lock/engine.h"
#include "lock/monitor.h"

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
    by_ordinal_.erase(oldest.ordinal());
    monitors_.erase(oldest.name());
  }
}

}  // namespace forelock::lock
