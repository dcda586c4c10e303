#include "client/monitor_reading.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lock/child_name.h"

namespace forelock::client {
namespace {

using coordination::Reply;
using lock::ChildName;
using std::chrono::milliseconds;

// Wall clocks of different machines differ a little: a wait is never negative.
milliseconds since(WallTime time, WallTime now) {
  return std::max(milliseconds(0), now - time);
}

WallTime created_at(const coordination::Stat& stat) {
  return WallTime(milliseconds(stat.ctime_ms));
}

// The contender node of the holder. Its record says so; a client that leaves no records is known by its session, as
// long as that session has no second contender here.
const ContenderNode* node_of_holder(const Reply& private_lock, const std::optional<OwnerRecord>& owner,
                                    const std::vector<ContenderNode>& contenders) {
  const ContenderNode* only = nullptr;
  std::size_t of_session = 0;
  for (const ContenderNode& contender : contenders) {
    if (contender.stat.ephemeral_owner != private_lock.stat.ephemeral_owner) continue;
    if (owner && !owner->guid.empty() && contender.record && contender.record->guid == owner->guid) return &contender;
    only = &contender;
    ++of_session;
  }
  return of_session == 1 ? only : nullptr;
}

// What it is: its record says so where it stands in the queue of another class.
std::optional<Priority> class_of(const ContenderNode& node, const Settings& settings) {
  if (node.record && node.record->rank) return node.record->priority;
  return priority_of(node.name, settings);
}

HolderView holder_view(const Reply& private_lock, const std::optional<OwnerRecord>& owner, const ContenderNode* node,
                       const Settings& settings, WallTime now) {
  HolderView holder;
  holder.owner = owner;
  if (node != nullptr) {
    holder.node = node->name;
    holder.priority = class_of(*node, settings);
  }
  if (!holder.priority && owner) holder.priority = owner->priority;
  holder.session = private_lock.stat.ephemeral_owner;
  holder.token = token_of(private_lock, owner);
  holder.version = private_lock.stat.version;
  holder.held = since(owner && owner->acquired_at ? *owner->acquired_at : created_at(private_lock.stat), now);
  return holder;
}

WaiterView waiter_view(const ContenderNode& contender, const Settings& settings, WallTime now) {
  WaiterView waiter;
  waiter.node = contender.name;
  waiter.priority = class_of(contender, settings);
  waiter.owner = contender.record;
  waiter.session = contender.stat.ephemeral_owner;
  const bool has_time = contender.record && contender.record->enqueued_at != WallTime{};
  waiter.waited = since(has_time ? contender.record->enqueued_at : created_at(contender.stat), now);
  return waiter;
}

}  // namespace

// The grant's transaction has written the record last, unless alive() has; that writes the token into it.
std::int64_t token_of(const Reply& private_lock, const std::optional<OwnerRecord>& owner) {
  return owner && owner->fencing_token ? *owner->fencing_token : private_lock.stat.mzxid;
}

std::optional<Priority> priority_of(std::string_view node, const Settings& settings) {
  const std::optional<ChildName> name = lock::parse_contender_name(node);
  if (!name) return std::nullopt;
  for (const Priority priority : all_priorities) {
    if (name->prefix == settings.prefix(priority)) return priority;
  }
  return std::nullopt;
}

std::vector<std::string> contender_names(const std::vector<std::string>& children) {
  std::vector<std::string> names;
  std::copy_if(children.begin(), children.end(), std::back_inserter(names),
               [](const std::string& child) { return lock::parse_contender_name(child).has_value(); });
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return lock::ranks_before(*lock::parse_contender_name(a), *lock::parse_contender_name(b));
  });
  return names;
}

bool has_lock_nodes(const std::vector<std::string>& children, const Settings& settings) {
  return std::any_of(children.begin(), children.end(), [&settings](const std::string& child) {
    return child == lock::private_lock_name || priority_of(child, settings);
  });
}

bool has_only_lock_nodes(const std::vector<std::string>& children, const Settings& settings) {
  return std::all_of(children.begin(), children.end(), [&settings](const std::string& child) {
    return child == lock::private_lock_name || priority_of(child, settings);
  });
}

MonitorView view_of(std::string monitor, std::string path, const MonitorReading& reading, const Settings& settings,
                    WallTime now) {
  MonitorView view;
  view.monitor = std::move(monitor);
  view.path = std::move(path);
  const ContenderNode* holder_node = nullptr;
  if (reading.private_lock) {
    const auto owner = OwnerRecord::from_json(reading.private_lock->data);
    holder_node = node_of_holder(*reading.private_lock, owner, reading.contenders);
    view.holder = holder_view(*reading.private_lock, owner, holder_node, settings, now);
  }
  std::string behind(lock::private_lock_name);
  for (const ContenderNode& contender : reading.contenders) {
    if (&contender == holder_node) continue;
    WaiterView waiter = waiter_view(contender, settings, now);
    waiter.position = view.queue.size() + 1;
    waiter.behind = std::exchange(behind, contender.name);
    view.queue.push_back(std::move(waiter));
  }
  return view;
}

MonitorSummary summary_of(const MonitorView& view) {
  MonitorSummary summary;
  summary.monitor = view.monitor;
  summary.holder = view.holder;
  for (const WaiterView& waiter : view.queue) {
    if (waiter.priority == Priority::foreground) ++summary.waiting_foreground;
    if (waiter.priority == Priority::background) ++summary.waiting_background;
    summary.oldest_wait = std::max(summary.oldest_wait.value_or(milliseconds(0)), waiter.waited);
  }
  return summary;
}

}  // namespace forelock::client
