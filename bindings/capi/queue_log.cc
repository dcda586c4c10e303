#include "capi/queue_log.h"

#include <utility>

#include "capi/client_object.h"

namespace forelock::capi {
namespace {

// The oldest are dropped: a queue that nobody listens to must not fill the memory.
constexpr std::size_t most_unheard = 64;

}  // namespace

void QueueLog::used_by(const ClientState& client) {
  if (!client.takes_lines || !belongs_here()) return;
  const std::lock_guard guard(mutex_);
  std::erase_if(clients_, [&](const auto& each) { return each.expired() || each.lock() == client.events; });
  clients_.push_back(client.events);
  for (Line& line : std::exchange(unheard_, {})) {
    client.events->notify_of_line(std::move(line.level), std::move(line.message));
  }
}

void QueueLog::say(std::string_view level, std::string_view message) {
  if (!belongs_here()) return;
  const std::lock_guard guard(mutex_);
  if (const auto events = listener()) return events->notify_of_line(std::string(level), std::string(message));
  if (unheard_.size() == most_unheard) unheard_.pop_front();
  unheard_.push_back({std::string(level), std::string(message)});
}

std::shared_ptr<EventQueue> QueueLog::listener() {
  for (; !clients_.empty(); clients_.pop_back()) {
    if (auto events = clients_.back().lock(); events && events->is_open()) return events;
  }
  return nullptr;
}

}  // namespace forelock::capi
