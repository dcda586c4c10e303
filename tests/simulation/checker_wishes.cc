// What an operator writes into the node of a waiting contender is told to its process, which alone can move it.
#include "checker.h"

namespace forelock::simulation {
namespace {

// A resolving, claims that have to be given back, a set's holder that watches its nodes later than others, and the way
// there and back.
constexpr auto longest_unread = milliseconds(2000);
// Without room for every watch it may be read when it has waited for much longer.
constexpr std::size_t room_for_all_watches = 4096;

}  // namespace

std::optional<Priority> wish_in(std::string_view record) {
  if (record.empty() || contender_in(record) == 0) return std::nullopt;
  if (record[0] == foreground_wish) return Priority::foreground;
  if (record[0] == background_wish) return Priority::background;
  return std::nullopt;
}

std::vector<std::uint64_t> Checker::waiters(std::size_t monitor) const {
  std::vector<std::uint64_t> found;
  std::copy_if(monitors_[monitor].nodes.begin(), monitors_[monitor].nodes.end(), std::back_inserter(found),
               [&](std::uint64_t id) {
                 const Contender& one = contenders_[id - 1];
                 return one.process != nullptr && waits(one) && monitors_[monitor].owner != id;
               });
  return found;
}

std::uint64_t Checker::first_of_session(std::uint64_t id) const {
  const Contender& one = contenders_[id - 1];
  const Monitor& monitor = monitors_[one.monitor];
  std::uint64_t first = id;
  for (const std::uint64_t other : monitor.nodes) {
    if (contenders_[other - 1].node_session != one.node_session) continue;
    if (other == monitor.owner) return other;
    if (goes_before(contenders_[other - 1], contenders_[first - 1])) first = other;
  }
  return first;
}

void Checker::wished(std::uint64_t id, Priority priority) {
  Contender& one = at(id);
  ++one.record_changes;
  one.wish = priority;
  one.wished_node = one.node;
  one.wished_at = now();
  timeline_.at(now() + longest_unread, *this, wish_due, id);
}

void Checker::record_change_told(std::uint64_t id) {
  Contender& one = at(id);
  if (++one.told_changes > one.record_changes) {
    fail(Invariant::wishes, name(id) + " is told of a change of its record that nobody has made, or twice");
  }
}

void Checker::class_changed(std::uint64_t id, Priority priority) {
  Contender& one = at(id);
  one.priority = priority;
  one.reclassified = true;
  one.wish.reset();
}

// Unless its class is what is wished, it has another node since, or has ended.
void Checker::wish_lasts(std::uint64_t id) {
  const Contender& one = at(id);
  if (!one.wish || *one.wish == one.priority || !waits(one) || one.node != one.wished_node) return;
  if (plan_.engine.watched_bytes < room_for_all_watches || monitors_[one.monitor].undecidable) return;
  const Instant since = std::max({one.wished_at, one.process->awake_since(), one.process->calm_since()});
  const Instant due = since + 3 * plan_.engine.node_watch_delay + longest_unread + 4 * plan_.latest_tick;
  if (now() < due) return timeline_.at(due, *this, wish_due, id);
  fail(Invariant::wishes, name(id) + " is not told of the wish in its node");
}

}  // namespace forelock::simulation
