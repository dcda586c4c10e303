#include "literal_client.h"

#include "describe.h"
#include "world.h"

namespace forelock::simulation {

LiteralClient::LiteralClient(World& world, const PlannedLiteral& plan, std::size_t index)
    : world_(world), plan_(plan), name_("literal" + std::to_string(index)), rounds_(plan.rounds) {}

void LiteralClient::start() {
  session_ = &world_.new_session(*this, -1);
}

void LiteralClient::on_session(const coordination::SessionEvent& event) {
  if (over_) return;
  if (event.kind == coordination::SessionEvent::Kind::connected) {
    world_.timeline().after(plan_.start, *this, begin);
  } else {
    leave();
  }
}

void LiteralClient::leave() {
  if (world_.trace().on()) world_.trace().add(name_, "leaves");
  over_ = true;
  session_->crash(session_->underway());
}

// What it has made itself carries no mark: nobody removes it, but by hand, at the end of its counter, or taking it for
// the one before.
void LiteralClient::monitor_vanished() {
  const auto& faults = world_.plan().faults;
  const bool by_hand = std::any_of(faults.begin(), faults.end(), [this](const PlannedFault& fault) {
    const bool removes = fault.kind == FaultKind::monitor_removed || fault.kind == FaultKind::foreign_monitor;
    return removes && fault.monitor == plan_.monitor;
  });
  if (by_hand || world_.plan().first_counter[plan_.monitor] > 0) return;
  if (world_.checker().made_anew_unnoticed(plan_.monitor)) return;
  world_.checker().fail(Invariant::nothing_left, name_ + " has made its monitor, which somebody has removed");
}

void LiteralClient::submit(Step step, coordination::Request request) {
  if (world_.trace().on()) world_.trace().add(name_, "-> " + describe(request));
  session_->submit(step, std::move(request));
}

void LiteralClient::fire(std::uint32_t what, std::uint64_t /*detail*/) {
  if (over_) return;
  if (what == begin) {
    if (rounds_-- == 0) return leave();
    PlannedCall call;
    call.monitor = plan_.monitor;
    call.priority = plan_.priority;
    contender_ = world_.checker().add(nullptr, call, lock::never);
    return submit(make_monitor, coordination::Create{monitor_path(plan_.monitor), ""});
  }
  const coordination::Delete own{node_};
  const coordination::Delete lock{lock_path(plan_.monitor)};
  submit(drop_first, plan_.own_node_first ? own : lock);
  submit(drop_second, plan_.own_node_first ? lock : own);
}

void LiteralClient::on_reply(coordination::RequestTag tag, coordination::Reply reply) {
  if (over_) return;
  if (world_.trace().on()) world_.trace().add(name_, "<- " + describe(reply));
  using coordination::ReplyCode;
  const bool missing = reply.code == ReplyCode::no_node;
  switch (tag) {
    case make_monitor:
      if (!reply.ok() && reply.code != ReplyCode::node_exists) return leave();
      made_it_ = reply.ok();
      return submit(enqueue, coordination::Create{
                                 monitor_path(plan_.monitor) + (plan_.priority == Priority::foreground ? "/A-" : "/B-"),
                                 record_of('n', contender_), coordination::CreateMode::ephemeral_sequential});
    case enqueue:
      if (missing && made_it_) monitor_vanished();
      if (missing && !plan_.to_the_letter) {
        return submit(make_monitor, coordination::Create{monitor_path(plan_.monitor), ""});
      }
      if (!reply.ok()) return leave();
      node_ = reply.path;
      waiting_ = true;
      return submit(look, coordination::List{monitor_path(plan_.monitor), true});
    case look:
      if (!reply.ok()) return leave();
      if (waiting_) examine(reply.children);
      return;
    case take_lock:
      if (reply.ok()) return world_.timeline().after(plan_.hold, *this, release);
      waiting_ = true;
      if (reply.code != ReplyCode::node_exists) return leave();
      return submit(look, coordination::List{monitor_path(plan_.monitor), true});
    case drop_second:
      world_.checker().at(contender_).phase = Phase::done;
      return world_.timeline().after(milliseconds(1), *this, begin);
    default:
      return;
  }
}

void LiteralClient::examine(const std::vector<std::string>& children) {
  const std::string own = node_.substr(3);
  if (std::find(children.begin(), children.end(), own) == children.end()) return leave();
  const bool taken = std::find(children.begin(), children.end(), "privateLock") != children.end();
  if (*std::min_element(children.begin(), children.end()) != own || taken) return;  // until the watch fires
  waiting_ = false;
  submit(take_lock, coordination::Create{lock_path(plan_.monitor), record_of('h', contender_),
                                         coordination::CreateMode::ephemeral});
}

void LiteralClient::on_watch(const coordination::WatchEvent& event) {
  if (over_) return;
  if (event.kind == coordination::WatchEvent::Kind::deleted) return leave();
  if (waiting_) submit(look, coordination::List{monitor_path(plan_.monitor), true});
}

}  // namespace forelock::simulation
