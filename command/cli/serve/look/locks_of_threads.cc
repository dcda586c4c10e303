#include "cli/serve/look/locks_of_threads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace forelock::cli {
namespace {

// Two threads with the same one are looked at together, which costs some time.
std::size_t thread_hash(std::int64_t session, const OwnerRecord& record) {
  return std::hash<std::string>()(record.instance) ^ (static_cast<std::size_t>(session) * 0x9e3779b97f4a7c15U);
}

template <class OfThread>
void each_thread(const MonitorView& view, OfThread of_thread) {
  if (view.holder && view.holder->owner) of_thread(thread_hash(view.holder->session, *view.holder->owner));
  for (const WaiterView& waiter : view.queue) {
    if (waiter.owner) of_thread(thread_hash(waiter.session, *waiter.owner));
  }
}

// So many locks at a time.
constexpr std::size_t most_locks_of_threads = 1000;

// Those that have more than one lock, the ones with the fewest first, as many as there is room for.
std::unordered_set<std::size_t> chosen(const std::unordered_map<std::size_t, std::size_t>& locks) {
  std::vector<std::pair<std::size_t, std::size_t>> by_count;
  for (const auto& [thread, count] : locks) {
    if (count > 1) by_count.emplace_back(count, thread);
  }
  std::sort(by_count.begin(), by_count.end());
  std::unordered_set<std::size_t> threads;
  std::size_t all = 0;
  for (const auto& [count, thread] : by_count) {
    all += count;
    if (all > most_locks_of_threads) break;
    threads.insert(thread);
  }
  return threads;
}

}  // namespace

std::vector<MonitorView> locks_of_threads(const Sightings& monitors, const std::set<std::string>* changed,
                                          WallTime now) {
  std::unordered_map<std::size_t, std::size_t> locks;  // of each of these threads
  for (const SharedSighting& monitor : monitors) {
    if (changed == nullptr || changed->contains(monitor->monitor()))
      each_thread(monitor->view(), [&](std::size_t thread) { locks[thread] = 0; });
  }
  if (locks.empty()) return {};
  for (const SharedSighting& monitor : monitors) {
    each_thread(monitor->view(), [&](std::size_t thread) {
      if (const auto found = locks.find(thread); found != locks.end()) ++found->second;
    });
  }
  const std::unordered_set<std::size_t> threads = chosen(locks);
  std::vector<MonitorView> theirs;
  if (threads.empty()) return theirs;
  const auto leave_out_others = [&](std::int64_t session, std::optional<OwnerRecord>& owner) {
    if (owner && !threads.contains(thread_hash(session, *owner))) owner.reset();
  };
  for (const SharedSighting& monitor : monitors) {
    bool is_theirs = false;
    each_thread(monitor->view(), [&](std::size_t thread) { is_theirs = is_theirs || threads.contains(thread); });
    if (!is_theirs) continue;
    MonitorView& view = theirs.emplace_back(monitor->full(now));
    if (view.holder) leave_out_others(view.holder->session, view.holder->owner);
    for (WaiterView& waiter : view.queue) leave_out_others(waiter.session, waiter.owner);
  }
  return theirs;
}

}  // namespace forelock::cli
