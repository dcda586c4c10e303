// The requests that follow from decisions. Those of one step leave together, in the order in which they are built.
#include <utility>

#include "lock/engine.h"
#include "lock/limits.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

using coordination::Check;
using coordination::Create;
using coordination::CreateMode;
using coordination::Delete;
using coordination::Get;
using coordination::List;
using coordination::Operation;
using coordination::SetData;
using coordination::Transaction;

namespace {

// An initializer list would copy the operations, and with them the records.
template <class... Operations>
Transaction transaction_of(Operations... operations) {
  Transaction transaction;
  transaction.operations.reserve(sizeof...(operations));
  (transaction.operations.emplace_back(std::move(operations)), ...);
  return transaction;
}

std::string record_of(const Contender& contender, RecordUse use) {
  return contender.spec.record(use, contender.spec.guid);
}

RecordUse waiting_record(const Contender& contender, Priority rank) {
  return rank == contender.spec.priority ? RecordUse::waiting : RecordUse::moved;
}

}  // namespace

std::string Monitor::child_path(std::string_view child) const {
  std::string path;
  path.reserve(path_.size() + 1 + child.size());
  return path.append(path_).append("/").append(child);
}

std::string Monitor::watched_path(const Flight& flight) const {
  switch (flight.kind) {
    case FlightKind::watch_lock:
      return lock_path_;
    case FlightKind::watch_node:
    case FlightKind::watch_predecessor:
      return child_path(flight.name);
    default:
      return path_;
  }
}

// What the server appends a sequence number to.
std::string Monitor::new_node_path(Priority rank) const {
  const std::string& prefix = engine_.prefix(rank);
  std::string path;
  path.reserve(path_.size() + 1 + prefix.size() + 1);
  return path.append(path_).append("/").append(prefix).append("-");
}

void Monitor::update_record(Contender& contender, std::string record, TimePoint now) {
  if (!engine_.connected() || resolving_.busy() || lock_.in_flight || owner_ != &contender) return;
  const std::int32_t version = lock_.version++;
  send({.kind = FlightKind::update_record, .contender = contender.id},
       transaction_of(Check{child_path(contender.node)}, SetData{lock_path_, std::move(record), version}), now);
}

std::vector<Operation> Monitor::guard(const Contender& contender) const {
  if (resolving_.busy()) return {};  // the nodes that we know of may not be ours any more
  return {Check{child_path(contender.node)}, Check{lock_path_, lock_.version}};
}

coordination::RequestTag Monitor::send(Flight flight, coordination::Request request, TimePoint now) {
  flight.monitor = this;
  flight.creation = node_.creations;
  ++outstanding_;
  engine_.became_busy(*this);  // the reply must still find it
  return engine_.send(std::move(flight), std::move(request), now);
}

void Monitor::ensure_monitor(TimePoint now) {
  if (node_.exists) return;
  expect_monitor();
  const bool persistent = node_.kept || engine_.options().monitor_linger > Duration();
  send({.kind = FlightKind::create_monitor}, persistent ? new_node() : Create{path_, "", CreateMode::container}, now);
}

// What carries the mark is removed when it is unused, by any process.
Create Monitor::new_node() const {
  return Create{path_, node_.kept ? std::string() : std::string(monitor_mark)};
}

// Harmless if it was there already; the reply tells if it could not be made.
void Monitor::expect_monitor() {
  node_.exists = true;
  headcount_.monitor_created();
  ++node_.creations;
}

// What the others do about a monitor that nobody has used for a while, in one transaction. Where it did not exist
// before nobody else can be there.
void Monitor::fresh_claim(Contender& contender, TimePoint now) {
  expect_monitor();
  listing_.forget();  // it is of a former monitor
  contender.move_to(ContenderState::claiming);
  contender.created_after = headcount_.at_least();
  lock_.in_flight = true;
  contender.proof_requested = false;
  engine_.explain(contender, CourseStep::claims_at_once);
  Transaction transaction =
      transaction_of(new_node(),
                     Create{new_node_path(contender.rank), record_of(contender, RecordUse::claiming),
                            CreateMode::ephemeral_sequential},
                     Create{lock_path_, "", CreateMode::ephemeral},
                     SetData{lock_path_, record_of(contender, RecordUse::holding), coordination::any_version});
  transaction.groupable = true;
  transaction.urgent = contender.most_urgent();
  claiming_at_once_ = &contender;
  contender.claim = send({.kind = FlightKind::fresh_claim, .contender = contender.id}, std::move(transaction), now);
}

void Monitor::removal_sent() {
  node_.exists = false;
}

void Monitor::removed() {
  node_.removable = false;  // unless a claim that is under way makes it anew
  if (!node_.exists) looks_.queue_expected = false;
}

void Monitor::fast_claim(Contender& contender, TimePoint now) {
  if (!node_.exists && engine_.options().monitor_linger > Duration()) return fresh_claim(contender, now);
  ensure_monitor(now);
  contender.move_to(ContenderState::claiming);
  contender.created_after = headcount_.at_least();
  lock_.in_flight = true;
  contender.proof_requested = !headcount_.likely_alone();
  engine_.explain(contender, CourseStep::claims_at_once);
  Transaction transaction =
      transaction_of(Create{new_node_path(contender.rank), record_of(contender, RecordUse::claiming),
                            CreateMode::ephemeral_sequential},
                     Create{lock_path_, "", CreateMode::ephemeral},
                     SetData{lock_path_, record_of(contender, RecordUse::holding), coordination::any_version});
  transaction.groupable = headcount_.watched() || std::exchange(node_.shown_by_knock, false);
  transaction.urgent = contender.most_urgent();
  claiming_at_once_ = &contender;
  contender.claim = send({.kind = FlightKind::fast_claim, .contender = contender.id}, std::move(transaction), now);
  if (!headcount_.watched()) {
    listing_.forget();                // unwatched, it may be of a monitor that was here before this one
    watch_parent(contender.id, now);  // its answer also tells whether anybody else is there
  } else if (contender.proof_requested) {
    list(false, contender.id, now);
  }
}

void Monitor::enqueue(Contender& contender, TimePoint now) {
  ensure_monitor(now);
  contender.move_to(ContenderState::enqueueing);
  contender.created_after = headcount_.at_least();
  ++enqueueing_[contender.rank];
  send({.kind = FlightKind::enqueue, .contender = contender.id},
       Create{new_node_path(contender.rank), record_of(contender, waiting_record(contender, contender.rank)),
              CreateMode::ephemeral_sequential},
       now);
  if (!headcount_.watched()) watch_parent(0, now);
}

// Never in a group: one of its monitors may be gone, and all of them would be asked for again.
void Monitor::move(Contender& contender, TimePoint now) {
  const Priority rank = contender.moving.wanted_rank;
  queue_.erase(&contender);
  movers_.erase({contender.arrival, &contender});
  contender.move_to(ContenderState::moving);
  contender.moving.to = rank;
  moving_.push_back(&contender);
  contender.created_after = headcount_.at_least();
  ++enqueueing_[rank];
  engine_.explain(contender, CourseStep::moves, contender.node);
  Transaction transaction =
      transaction_of(Create{new_node_path(rank), record_of(contender, waiting_record(contender, rank)),
                            CreateMode::ephemeral_sequential},
                     Delete{child_path(contender.node)});
  if (mutated(Mutation::move_leaves_node)) transaction.operations.pop_back();
  send({.kind = FlightKind::move, .contender = contender.id}, std::move(transaction), now);
}

void Monitor::claim(Contender& contender, TimePoint now) {
  queue_.erase(&contender);
  contender.move_to(ContenderState::claiming);
  contender.claimed_at_creation = false;
  lock_.in_flight = true;
  Transaction transaction;
  if (!mutated(Mutation::own_node_not_checked)) transaction.operations.push_back(Check{child_path(contender.node)});
  transaction.operations.push_back(Create{lock_path_, "", CreateMode::ephemeral});
  transaction.operations.push_back(
      SetData{lock_path_, record_of(contender, RecordUse::holding), coordination::any_version});
  engine_.explain(contender, CourseStep::claims);
  const bool clear_before = std::exchange(contender.clear, is_clear(contender));
  if (contender.clear && !clear_before) engine_.explain(contender, CourseStep::seen_first);
  if (mutated(Mutation::claim_unproved)) contender.clear = true;
  contender.proof_requested = !contender.clear;
  transaction.groupable = contender.clear;
  transaction.urgent = contender.most_urgent();
  send({.kind = FlightKind::claim, .contender = contender.id}, std::move(transaction), now);
  if (contender.proof_requested) list(engine_.watch_mode() == WatchMode::parent, contender.id, now);
}

void Monitor::hand_over(Contender& leaver, Contender& next, TimePoint now) {
  queue_.erase(&next);
  next.move_to(ContenderState::claiming);
  next.claimed_at_creation = false;
  lock_.in_flight = true;
  engine_.explain(next, CourseStep::handed_over, leaver.node);
  const bool clear_before = std::exchange(next.clear, is_clear(next));
  if (next.clear && !clear_before) engine_.explain(next, CourseStep::seen_first);
  if (mutated(Mutation::hand_over_unproved)) next.clear = true;
  next.proof_requested = !next.clear;
  Transaction transaction = transaction_of(Delete{child_path(leaver.node)}, Check{child_path(next.node)},
                                           SetData{lock_path_, record_of(next, RecordUse::holding), lock_.version});
  transaction.groupable = next.clear;
  transaction.urgent = next.most_urgent();
  send({.kind = FlightKind::hand_over, .contender = leaver.id, .next = next.id}, std::move(transaction), now);
  if (next.proof_requested) list(false, next.id, now);
}

void Monitor::release_lock(Contender& owner, TimePoint now) {
  releasing_ = &owner;
  const Flight flight{.kind = FlightKind::release, .contender = owner.id};
  if (mutated(Mutation::release_order_swapped)) {
    send({.kind = FlightKind::remove_lock}, Delete{lock_path_}, now);
    send(flight, Delete{child_path(owner.node)}, now);
  } else if (mutated(Mutation::late_release_blind)) {
    send({.kind = FlightKind::remove_lock}, Delete{child_path(owner.node)}, now);
    send(flight, Delete{lock_path_}, now);
  } else {
    // Own node first: if that is gone, so is our right to privateLock, and nothing is deleted.
    Transaction transaction = transaction_of(Delete{child_path(owner.node)}, Delete{lock_path_, lock_.version});
    transaction.groupable = queue_.empty();
    transaction.urgent = true;  // somebody may wait for it whom this process does not know
    send(flight, std::move(transaction), now);
  }
  if (queue_.empty()) return;
  const Contender& first = queue_.front();
  if (old_listing_serves(first)) return watch_predecessor(first, true, now);
  list(engine_.watch_mode() == WatchMode::parent, 0, now);
}

void Monitor::yield(Contender& owner, TimePoint now) {
  lock_.in_flight = true;
  owner.move_to(ContenderState::yielding);
  send({.kind = FlightKind::yield, .contender = owner.id},
       transaction_of(Check{child_path(owner.node)}, Delete{lock_path_, lock_.version}), now);
  list(engine_.watch_mode() == WatchMode::parent, 0, now);
}

void Monitor::remove_node(Contender& contender, TimePoint now) {
  if (resolving_.busy()) return;  // the name may be somebody else's by now; resolving comes back to it
  if (std::exchange(contender.removing, true)) return;
  send({.kind = FlightKind::remove_node, .contender = contender.id}, Delete{child_path(contender.node)}, now);
}

void Monitor::list(bool watch, ContenderId proof_for, TimePoint now) {
  listing_.sent(now);
  const auto tag = send({.kind = FlightKind::list, .contender = proof_for, .watch = watch}, List{path_, watch}, now);
  if (Contender* contender = proof_for == 0 ? nullptr : engine_.find(proof_for)) contender->proof = tag;
}

void Monitor::watch_parent(ContenderId proof_for, TimePoint now) {
  headcount_.watch_sent();
  const auto tag = send({.kind = FlightKind::watch_parent, .contender = proof_for}, Get{path_, true}, now);
  if (Contender* contender = proof_for == 0 ? nullptr : engine_.find(proof_for)) contender->proof = tag;
}

void Monitor::watch_lock(TimePoint now) {
  if (mutated(Mutation::removed_holder_not_noticed)) return;
  if (lock_.watched) return;
  lock_.watched = true;
  send({.kind = FlightKind::watch_lock}, Get{lock_path_, true}, now);
}

void Monitor::watch_node(Contender& contender, TimePoint now) {
  if (std::exchange(contender.node_watched, true)) return;
  contender.record.read = now;
  send({.kind = FlightKind::watch_node, .contender = contender.id, .watch = true, .name = contender.node},
       Get{child_path(contender.node), true}, now);
}

void Monitor::read_record(Contender& contender, TimePoint now) {
  contender.record.read = now;
  send({.kind = FlightKind::watch_node, .contender = contender.id, .name = contender.node},
       Get{child_path(contender.node), false}, now);
}

// The node directly before our first contender, or privateLock if there is none. As every watch here it is set by Get,
// which leaves nothing behind on a node that has gone: a watch on its creation would stay for the life of the session,
// since names do not come again.
void Monitor::watch_predecessor(const Contender& first, bool old_listing, TimePoint now) {
  const ForeignContender* before = listing_.last_before(child_of(first));
  const std::string child = before ? before->name : std::string(private_lock_name);
  listing_.keep_fresh_for(first.id);
  if (listing_.watched_node() == child) return;
  if (!old_listing && !engine_.room_to_watch(child_path(child))) {
    listing_.set_unwatched(true);
    return look_in_turn(now);
  }
  listing_.set_watched_node(child);
  send({.kind = FlightKind::watch_predecessor, .old_listing = old_listing, .name = child}, Get{child_path(child), true},
       now);
}

}  // namespace forelock::lock
