// Moves from the queue of one class to the end of another's: of background contenders that have aged, and of those
// whose priority is changed while they wait.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "lock/engine.h"
#include "lock/limits.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

using coordination::Effect;
using coordination::effect_of;
using coordination::Reply;
using coordination::ReplyCode;

// --- who is to move ---

bool Monitor::set_priority(Contender& contender, Priority priority, RecordText record, TimePoint now) {
  using State = ContenderState;
  if (contender.state == State::claiming || contender.state == State::held || contender.state == State::releasing)
    return false;
  if (contender.spec.priority == priority) return true;
  contender.spec.priority = priority;
  contender.spec.rank.reset();
  if (record) contender.spec.record = std::move(record);
  contender.measured.since = never;  // how long it has waited says nothing of how fast either queue comes forward
  if (contender.state == State::idle) {
    start_anew(contender);
  } else {
    want_rank(contender, priority);
  }
  settle(now);
  return true;
}

// One whose claim is under way moves when it has to give the lock back.
void Monitor::raise(Contender& contender, Priority rank, TimePoint now) {
  using State = ContenderState;
  if (contender.state == State::held || contender.state == State::releasing || contender.moving.wanted_rank <= rank)
    return;
  contender.spec.rank = rank;
  contender.measured.since = never;
  if (contender.state == State::idle) {
    start_anew(contender);
  } else {
    want_rank(contender, rank);
  }
  settle(now);
}

void Monitor::want_rank(Contender& contender, Priority rank) {
  contender.moving.wanted_rank = rank;
  const std::pair mover{contender.arrival, &contender};
  if (contender.state == ContenderState::waiting && rank != contender.rank) {
    movers_.insert(mover);
  } else {
    movers_.erase(mover);  // back_to_queue() comes back to it
  }
}

void Monitor::move_due(Contender& contender, TimePoint now) {
  const bool again = std::exchange(contender.moving.refused, false);
  const bool holds = contender.state == ContenderState::held || contender.state == ContenderState::releasing;
  if (again && !holds) want_rank(contender, contender.first_rank());
  settle(now);
}

void Monitor::settle_moves(TimePoint now) {
  if (ageing_.on() && !node_.blocked) settle_ageing(now);
  const auto movers = movers_;
  for (const auto& [arrival, contender] : movers) {
    if (contender->abandoned || contender->state != ContenderState::waiting) {
      movers_.erase({arrival, contender});  // back_to_queue() comes back to it
    } else {
      move(*contender, now);
    }
  }
}

// Whoever claims the lock and has to give it back has waited on meanwhile: it stays the first.
bool Monitor::first_is_away() const {
  using State = ContenderState;
  if (mutated(Mutation::claims_end_ageing)) return false;
  const Contender* const first = ageing_.first() == 0 ? nullptr : engine_.find(ageing_.first());
  if (first == nullptr || first->abandoned || first->node.empty() || first->most_urgent()) return false;
  return first->state == State::claiming || first->state == State::yielding || first->state == State::moving ||
         first->state == State::resolving;
}

void Monitor::settle_ageing(TimePoint now) {
  if (first_is_away()) return;
  Contender* const head = first_behind_foreground();
  ageing_.first(head ? head->id : 0, now);
  if (!head || head->moving.wanted_rank != head->rank || head->moving.refused) return;
  // Where nobody goes before it but its own class, it need not move.
  if (ageing_.due(now) && foreground_before(*head)) {
    return want_rank(*head, all_priorities.front());
  }
  const TimePoint look = ageing_.next_look();
  if (now < look) return engine_.set_move(*head, look);
  if (listing_.in_flight()) return;
  ageing_.asked(now);
  list(engine_.watch_mode() == WatchMode::parent, 0, now);
}

Contender* Monitor::first_behind_foreground() const {
  const auto first = std::partition_point(queue_.begin(), queue_.end(),
                                          [](const Contender* contender) { return contender->most_urgent(); });
  return first == queue_.end() ? nullptr : *first;
}

// The holder counts, as others may take the lock one after the other without ever waiting for it.
bool Monitor::foreground_before(const Contender& contender) const {
  const bool ours = &queue_.front() != &contender || (owner_ && owner_->most_urgent());
  const ChildName first_of_class{engine_.prefix(contender.rank), std::numeric_limits<std::int64_t>::min()};
  return ours || listing_.count_before(first_of_class) > 0;
}

std::size_t Monitor::others_before(const Contender& contender, Priority rank) const {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::size_t more_urgent = listing_.count_before({engine_.prefix(rank), lowest});
  if (rank == contender.rank) return listing_.count_before(child_of(contender)) - more_urgent;
  const Priority next = all_priorities[static_cast<std::size_t>(rank) + 1];
  return listing_.count_before({engine_.prefix(next), lowest}) - more_urgent;
}

// Of this process as well, whether they wait, hold or have been given up.
std::size_t Monitor::nodes_before(const Contender& contender) const {
  const ChildName self = child_of(contender);
  const auto ours = std::count_if(nodes_.begin(), nodes_.end(), [&](const auto& node) {
    return node.second->rank == contender.rank && goes_before(child_of(*node.second), self);
  });
  return others_before(contender, contender.rank) + static_cast<std::size_t>(ours);
}

// Thousands may ask at once, when their time is over: not by looking at each node.
base::PerPriority<std::size_t> Monitor::waiting_before(const Contender& contender) const {
  base::PerPriority<std::size_t> before;
  const auto index = queue_.index_of(&contender);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(index.value_or(queue_.size()));
  const auto up_to = [&](Priority rank) {
    return std::partition_point(queue_.begin(), end, [rank](const Contender* one) { return one->rank <= rank; });
  };
  auto first = queue_.begin();
  for (const Priority rank : all_priorities) {
    if (rank > contender.rank) break;
    const auto last = up_to(rank);
    const std::size_t holder = owner_ && owner_ != &contender && owner_->rank == rank ? 1 : 0;
    before[rank] = static_cast<std::size_t>(last - first) + holder + others_before(contender, rank);
    first = last;
  }
  return before;
}

void Monitor::note_age(TimePoint asked, TimePoint now) {
  if (!ageing_.on() || first_is_away()) return;
  const Contender* const head = first_behind_foreground();
  if (!head || !listing_.shows(child_of(*head))) return;
  ageing_.first(head->id, now);
  ageing_.seen(nodes_before(*head), asked, now);
}

// --- what others wish ---

// They write it into the data of its node. Of a process's waiting contenders only the first one's node is watched, or
// that of the holder before them: whoever changes another one's data sets those of that node, too, to what they are.
void Monitor::look_at_own_record(Contender& contender, TimePoint now) {
  if (!listing_.unwatched() && !engine_.sparing_watches()) return watch_node(contender, now);
  const TimePoint last = std::max(contender.record.read, contender.waiting_since);
  if (now - last >= engine_.safety_poll()) read_record(contender, now);
}

void Monitor::on_record(const Flight& flight, Contender& contender, const Reply& reply, TimePoint now) {
  using State = ContenderState;
  if (flight.name != contender.node || reply.stat.version == contender.record.version) return;
  const bool waits = contender.state == State::waiting;
  // Should it not get the lock, it waits on, and then it is read again.
  if (!waits && contender.state != State::held && contender.state != State::releasing) {
    contender.node_watched = false;
    return;
  }
  if (!mutated(Mutation::record_told_again)) contender.record.version = reply.stat.version;
  if (waits && !contender.abandoned) engine_.output().record_changed(contender.id, reply.data);
  const bool first = !queue_.empty() && &queue_.front() == &contender;
  if (!first && !flight.watch) return;
  std::size_t left = most_records_read;
  for (Contender* other : queue_) {
    if (other == &contender) continue;
    if (left-- == 0) break;
    read_record(*other, now);
  }
}

// --- what has become of it ---

void Monitor::on_move(const Flight& flight, Contender& contender, const Reply& reply, TimePoint now) {
  const Priority rank = *contender.moving.to;
  --enqueueing_[rank];
  std::erase(moving_, &contender);
  if (effect_of(reply.code) == Effect::unknown) return outcome_unknown(contender, now);
  contender.moving.to.reset();
  if (reply.ok()) {
    nodes_.erase(contender.node);
    contender.node = reply.operations.front().path.substr(path_.size() + 1);
    const auto name = parse_contender_name(contender.node);
    if (!mutated(Mutation::moved_keeps_number)) contender.number = name ? name->number : 0;
    nodes_[contender.node] = &contender;
    const bool was_clear = contender.clear;
    adopt_rank(contender, rank);
    const bool alone = headcount_.node_created(contender.number);
    contender.clear = alone && contender.most_urgent();
    if (mutated(Mutation::moved_stays_clear)) contender.clear = contender.clear || was_clear;
    note_number(contender.number);
  } else if (reply.code == ReplyCode::no_node) {
    // Its node was removed; or the monitor is gone, with everything in it.
    if (reply.refused_operation == 0u) return monitor_gone(flight, contender, now);
    return own_node_gone(contender);
  } else {
    contender.moving.refused = contender.first_rank() != contender.rank;
    contender.moving.wanted_rank = contender.rank;
    ageing_.restart();
  }
  back_to_queue(contender);
  if (contender.abandoned) return remove_node(contender, now);
  if (contender.moving.refused) engine_.set_move(contender, now + look_again_after);
  explain_queued(contender);
}

// Its node has the prefix of this rank.
void Monitor::adopt_rank(Contender& contender, Priority rank) {
  contender.rank = rank;
  contender.clear = contender.node_watched = false;
  contender.record.version = 0;
  // What has kept the queue known was the node before its former one.
  if (listing_.fresh_for(contender.id)) listing_.expire();
  if (!contender.abandoned) engine_.output().moved(contender.id, rank);
}

// It has no node.
void Monitor::start_anew(Contender& contender) {
  contender.record.version = 0;
  contender.rank = contender.moving.wanted_rank = contender.first_rank();
  contender.moving.to.reset();
  contender.moving.refused = false;
  movers_.erase({contender.arrival, &contender});
}

}  // namespace forelock::lock
