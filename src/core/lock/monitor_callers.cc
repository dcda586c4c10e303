// The wishes of callers, and what they may ask about their places.
#include <algorithm>
#include <numeric>

#include "lock/engine.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

void Monitor::add(Contender& contender, TimePoint) {
  node_.used = true;
  node_.kept |= contender.spec.keep_monitor;
  all_.emplace(contender.arrival, &contender);
  idle_.insert({contender.arrival, &contender});
  if (contender.spec.wants_position) position_watchers_.insert({contender.arrival, &contender});
  const bool placed = contender.spec.queue_max > 0 || contender.spec.refuse_in_vain || contender.spec.wants_position;
  if (placed && !contender.spec.try_once) applicants_.insert({contender.arrival, &contender});
}

void Monitor::drop(Contender& contender) {
  all_.erase(contender.arrival);
  idle_.erase({contender.arrival, &contender});
  queue_.erase(&contender);
  movers_.erase({contender.arrival, &contender});
  std::erase(moving_, &contender);
  if (const auto node = nodes_.find(contender.node); node != nodes_.end() && node->second == &contender) {
    nodes_.erase(node);
  }
  if (owner_ == &contender) owner_ = nullptr;
  if (releasing_ == &contender) releasing_ = nullptr;
  if (claiming_at_once_ == &contender) claiming_at_once_ = nullptr;
  if (contender.spec.wants_position) position_watchers_.erase({contender.arrival, &contender});
  applicants_.erase({contender.arrival, &contender});
}

void Monitor::release(Contender& contender, TimePoint now) {
  node_.used = true;
  engine_.end_hold(contender);
  contender.move_to(ContenderState::releasing);
  settle(now);
}

void Monitor::step_aside(Contender& contender, TimePoint now) {
  contender.move_to(ContenderState::yielding);
  contender.stepping_aside = true;
  contender.hold.proof_wanted = false;
  contender.spec.try_once = false;  // it has a place in the queue now
  contender.proof_requested = false;
  contender.claimed_at_creation = false;
  contender.told_waiting = {};
  engine_.explain(contender, CourseStep::steps_aside);
  contender.position.reset();
  settle(now);
}

void Monitor::abandon(Contender& contender, TimePoint now) {
  applicants_.erase({contender.arrival, &contender});
  if (const auto position = position_of(contender)) note_wait(contender, position->place, now);
  switch (contender.state) {
    case ContenderState::idle:
      engine_.forget(contender);
      break;
    case ContenderState::waiting:
      queue_.erase(&contender);
      if (mutated(Mutation::no_cleanup_after_timeout)) {
        engine_.forget(contender);
      } else if (engine_.connected()) {
        remove_node(contender, now);
      }
      break;
    case ContenderState::held:
      // Its deadline has passed. What bears the names of its nodes by now may belong to others, in a monitor that was
      // made anew, and the news of that still on their way.
      need_resolve(now);
      break;
    case ContenderState::claiming:
      if (abandon_claim(contender)) engine_.forget(contender);
      break;
    default:
      break;  // something is under way; its reply will find the contender abandoned
  }
  settle(now);
}

// The caller has given up: whatever becomes of the claim, its proof is not needed.
bool Monitor::abandon_claim(Contender& contender) {
  if (!contender.node.empty()) return false;  // it claims from the queue, or holds privateLock
  if (const auto proof = engine_.withdraw(contender.proof)) {
    --outstanding_;
    *proof == FlightKind::list ? listing_.answered() : headcount_.watch_withdrawn();
  }
  if (withdraw_claim(contender)) return true;
  engine_.output().unwanted(contender.claim);
  return false;
}

// Of a claim that is still held back nothing can be left.
bool Monitor::withdraw_claim(const Contender& contender) {
  const std::optional<FlightKind> claim = engine_.withdraw(contender.claim);
  if (!claim) return false;
  --outstanding_;
  lock_.in_flight = false;
  claiming_at_once_ = nullptr;
  if (*claim == FlightKind::fresh_claim) node_.exists = false;
  return true;
}

bool Monitor::ends_with_releases() const {
  return std::all_of(all_.begin(), all_.end(), [this](const auto& one) { return one.second == releasing_; });
}

std::optional<QueuePosition> Monitor::position_of(const Contender& contender) const {
  const auto index = queue_.index_of(&contender);
  if (!index) return std::nullopt;
  return position_known(contender) ? position_at(*index) : contender.position;
}

// Before the first look at the queue behind its node, others may stand before it.
bool Monitor::position_known(const Contender& contender) const {
  return headcount_.likely_alone() || listing_.shows(child_of(contender)) || view_fresh_for(queue_.front());
}

QueuePosition Monitor::position_at(std::size_t index) const {
  const Contender& contender = queue_.at(index);
  const Contender* neighbour = index == 0 ? nullptr : &queue_.at(index - 1);
  QueuePosition position;
  position.place = index + 1;
  position.behind = neighbour ? std::string_view(neighbour->node) : private_lock_name;
  const ChildName self = child_of(contender);
  if (const std::size_t others = listing_.count_before(self); others > 0) {
    const ForeignContender* last = &listing_.others()[others - 1];
    position.place += others;
    if (!neighbour || goes_before(child_of(*neighbour), last->child())) position.behind = last->name;
    // The holder keeps its node, which is no place in the queue. It is before us, unless it is less urgent.
    const bool none_less_urgent = listing_.others().back().prefix <= self.prefix;
    const bool holder_before = listing_.lock_seen() && !owner_ && none_less_urgent;
    if (holder_before && --position.place == 1) position.behind = private_lock_name;
  }
  return position;
}

std::size_t Monitor::enqueueing() const {
  return std::accumulate(enqueueing_.values.begin(), enqueueing_.values.end(), std::size_t{0});
}

// Whether the reply is on its way to a contender of this process that will go before this one, or does so still, should
// it not be moved.
bool Monitor::another_may_go_before(const Contender& contender) const {
  const bool moving = std::any_of(moving_.begin(), moving_.end(), [&contender](const Contender* one) {
    return !one->abandoned && queued_before(one, &contender);
  });
  if (moving) return true;
  return std::any_of(all_priorities.begin(), all_priorities.end(),
                     [&](Priority priority) { return priority < contender.rank && enqueueing_[priority] > 0; });
}

}  // namespace forelock::lock
