// A background contender that waits inside of a lock of its caller moves to the foreground's queue when somebody of the
// foreground waits for that one (agent/nesting.h).
#include "checker.h"

namespace forelock::simulation {
namespace {

constexpr auto between_looks = milliseconds(25);
// Until an inner wait counts, a listing, or the news of the newcomer, the next look at it, and the move.
constexpr auto fast_delay = milliseconds(350);
constexpr auto slow_delay = milliseconds(700);

}  // namespace

void Checker::inside(std::uint64_t inner, std::uint64_t outer) {
  at(inner).outer = outer;
  timeline_.at(now() + between_looks, *this, nesting_due, inner);
}

bool Checker::foreground_waits_behind(std::uint64_t outer) const {
  const Contender& holder = contenders_[outer - 1];
  if (holder.phase != Phase::held) return false;
  const std::vector<std::uint64_t>& nodes = monitors_[holder.monitor].nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](std::uint64_t id) {
    return id != outer && contenders_[id - 1].rank == Priority::foreground && waits(contenders_[id - 1]);
  });
}

void Checker::look_at_nesting(std::uint64_t inner) {
  Contender& one = at(inner);
  if (one.phase != Phase::waiting || one.reclassified) return;
  timeline_.at(now() + between_looks, *this, nesting_due, inner);
  const bool stays_behind = waits(one) && one.rank == Priority::background && foreground_waits_behind(one.outer);
  const bool judged = ageing_judged(one.monitor) && ageing_judged(at(one.outer).monitor) &&
                      plan_.engine.watched_bytes >= enough_to_watch_all;
  if (!stays_behind || !judged) return one.blocks_since.reset();
  if (!one.blocks_since) one.blocks_since = now();
  const Instant since = std::max({*one.blocks_since, one.process->awake_since(), one.process->calm_since()});
  const Span longest = (plan_.slow_network ? slow_delay : fast_delay) + 4 * plan_.latest_tick;
  if (now() - since <= longest) return;
  fail(Invariant::nesting, name(inner) + " stays in the background although the foreground waits for " +
                               name(one.outer) + ", inside of which it waits");
}

}  // namespace forelock::simulation
