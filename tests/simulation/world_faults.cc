// How planned faults happen.
#include "lock/limits.h"
#include "world.h"

namespace forelock::simulation {
namespace {

// Refusing a deletion for good would leave the node there for good: that is no property to judge a client by.
bool may_be_refused(const coordination::Request& request) {
  if (std::holds_alternative<coordination::Create>(request)) return true;
  const auto* transaction = std::get_if<coordination::Transaction>(&request);
  return transaction != nullptr &&
         std::any_of(transaction->operations.begin(), transaction->operations.end(),
                     [](const auto& one) { return std::holds_alternative<coordination::Create>(one); });
}

// A holder may send its release with the version that a change of its record will have, before it knows of that: so not
// such a change.
bool may_be_throttled(const coordination::Request& request) {
  const auto* transaction = std::get_if<coordination::Transaction>(&request);
  const auto is_set = [](const auto& one) { return std::holds_alternative<coordination::SetData>(one); };
  return may_be_refused(request) || transaction == nullptr ||
         std::none_of(transaction->operations.begin(), transaction->operations.end(), is_set);
}

bool is_write(const coordination::Request& request) {
  return std::holds_alternative<coordination::Create>(request) ||
         std::holds_alternative<coordination::Delete>(request) ||
         std::holds_alternative<coordination::SetData>(request) ||
         std::holds_alternative<coordination::Transaction>(request);
}

}  // namespace

void World::disturb(const PlannedFault& fault, Span duration) {
  const Instant until = timeline_.now() + duration;
  disturbed_until_ = std::max(disturbed_until_, until);
  const bool servers = fault.lags || fault.kind == FaultKind::lag || fault.kind == FaultKind::cut_off ||
                       fault.kind == FaultKind::election || fault.kind == FaultKind::deposed ||
                       fault.kind == FaultKind::divided;
  Instant& mine = servers ? servers_disturbed_until_ : of_process_[fault.process];
  mine = std::max(mine, until);
}

void World::trace_fault(const PlannedFault& fault, const std::string& when) {
  trace_.add("FAULT", std::string(name_of(fault.kind)) + when);
}

void World::fire(std::uint32_t /*what*/, std::uint64_t detail) {
  if (struck_[detail]) return;
  struck_[detail] = true;
  strike(plan_.faults[detail]);
}

void World::submit(RequestOfProcess which, model::ModelSession& session, coordination::RequestTag tag,
                   coordination::Request request) {
  const PlannedFault* now = nullptr;
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const PlannedFault& fault = plan_.faults[i];
    if (fault.request != which.number || fault.process != which.process) continue;
    if (struck_[i] || awaited_[i]) continue;
    if (fault.kind == FaultKind::waiter_removed) continue;
    struck_[i] = true;
    now = &fault;
  }
  if (now == nullptr) return session.submit(tag, std::move(request));
  const bool connected = session.connected();
  const std::size_t before = session.underway();
  model::Fate fate;
  switch (now->kind) {
    case FaultKind::refusal:
      if (now->code == coordination::ReplyCode::throttled ? may_be_throttled(request) : may_be_refused(request)) {
        fate.refuse = now->code;
      }
      break;
    case FaultKind::false_error:
      if (is_write(request)) fate = {coordination::ReplyCode::server_error, true, false};
      break;
    case FaultKind::reply_lost:
      if (is_write(request)) fate.cut_when_applied = true;
      break;
    default:
      break;
  }
  session.set_fate(fate);
  session.submit(tag, std::move(request));
  if (!connected) return;
  if (trace_.on()) trace_fault(*now, " at request #" + std::to_string(tag));
  ++statistics_.faults[static_cast<std::size_t>(now->kind)];
  disturb(*now, now->duration);
  switch (now->kind) {
    case FaultKind::refusal:
    case FaultKind::false_error:
      return;
    case FaultKind::reply_lost:
      if (now->server >= 0) session.prefer_server(now->server);
      if (now->lags) lag(*now);
      return;
    case FaultKind::request_lost:
      return cut(*now, session, before);
    case FaultKind::request_late: {
      // It reaches the server, but only after the client has given it up.
      session.stall(true, true, timeline_.now() + random_.between(Span{}, milliseconds(6)));
      session.block_until(timeline_.now() + random_.between(milliseconds(1), milliseconds(15)));
      return cut(*now, session, before + 1);
    }
    case FaultKind::cut:
      return cut(*now, session, random_.below(session.underway() + 1));
    // The engine is in the middle of something: a moment later.
    case FaultKind::crash:
    case FaultKind::shutdown:
    case FaultKind::pause: {
      const auto index = static_cast<std::size_t>(now - plan_.faults.data());
      --statistics_.faults[static_cast<std::size_t>(now->kind)];
      return strike_soon(index);
    }
    default:
      --statistics_.faults[static_cast<std::size_t>(now->kind)];
      return strike(*now);
  }
}

bool World::strikes_follower(const PlannedFault& fault) const {
  return fault.server > 0 && fault.server < plan_.servers;
}

void World::lag(const PlannedFault& fault) {
  if (!strikes_follower(fault)) return;
  ensemble_.server(fault.server).freeze_until(timeline_.now() + fault.duration);
}

void World::strike_at_freed_locks() {
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const PlannedFault& fault = plan_.faults[i];
    if (struck_[i] || awaited_[i] || fault.kind != FaultKind::waiter_removed || fault.request == 0) continue;
    if (checker_.times_freed(fault.monitor) >= fault.request) strike_soon(i);
  }
}

void World::strike_soon(std::size_t index) {
  struck_[index] = false;
  awaited_[index] = true;
  timeline_.after(random_.between(Span{}, milliseconds(3)), *this, 0, index);
}

void World::strike(const PlannedFault& fault) {
  const auto strikes = [&] {
    ++statistics_.faults[static_cast<std::size_t>(fault.kind)];
    disturb(fault, fault.duration);
    if (trace_.on()) trace_fault(fault);
  };
  switch (fault.kind) {
    case FaultKind::lag:
      if (!strikes_follower(fault)) return;
      strikes();
      return lag(fault);
    case FaultKind::cut_off:
      if (!strikes_follower(fault)) return;
      strikes();
      return ensemble_.isolate(fault.server, fault.duration);
    case FaultKind::election:
    case FaultKind::deposed:
    case FaultKind::divided: {
      const model::Division division = division_for(fault);
      if (!ensemble_.has_majority()) return;
      strikes();
      disturb(fault, std::max(division.heals, division.followers_notice + division.election));
      ensemble_.divide(division);
      return;
    }
    case FaultKind::foreign_child:
    case FaultKind::foreign_monitor:
    case FaultKind::wished:
    case FaultKind::waiter_removed:
    case FaultKind::holder_removed:
    case FaultKind::lock_removed:
    case FaultKind::member_removed:
    case FaultKind::private_removed:
    case FaultKind::monitor_removed:
      return administer(fault);
    default:
      break;
  }
  Process& process = *processes_[fault.process];
  model::ModelSession* session = process.link().session_or_null();
  if (session == nullptr) return;
  strikes();
  strike_process(fault, process, *session);
}

model::Division World::division_for(const PlannedFault& fault) {
  model::Division division;
  const auto about_the_limit = [&] { return random_.between(plan_.sync_limit * 3 / 4, plan_.sync_limit * 5 / 4); };
  division.election = random_.between(milliseconds(2), milliseconds(random_.chance(0.5) ? 10 : 80));
  division.heals = fault.duration;
  if (fault.kind == FaultKind::election) return division;
  division.followers_notice = random_.between(Span{}, milliseconds(5));
  division.leader_notices = about_the_limit();
  division.left_behind = 0.3;
  if (fault.kind == FaultKind::deposed) return division;
  division.silent = true;
  division.followers_notice = about_the_limit();
  return division;
}

void World::strike_process(const PlannedFault& fault, Process& process, model::ModelSession& session) {
  const Instant until = timeline_.now() + fault.duration;
  switch (fault.kind) {
    case FaultKind::silent_both:
      return session.stall(true, true, until);
    case FaultKind::silent_up:
      return session.stall(true, false, until);
    case FaultKind::silent_down:
      return session.stall(false, true, until);
    case FaultKind::pings_only:
      return session.hold_requests(until);
    case FaultKind::pause:
      return process.pause(until);
    case FaultKind::crash:
      return process.crash(until);
    case FaultKind::shutdown:
      return process.shutdown(until);
    case FaultKind::expiry: {
      const Span out = plan_.session_timeout + milliseconds(50);
      disturb(fault, out);
      session.block_until(timeline_.now() + out);
      return session.cut(random_.below(session.underway() + 1));
    }
    default:
      return cut(fault, session, random_.below(session.underway() + 1));
  }
}

void World::cut(const PlannedFault& fault, model::ModelSession& session, std::size_t keep) {
  if (fault.server >= 0) session.prefer_server(fault.server);
  if (strikes_follower(fault) && fault.lags) {
    lag(fault);
  } else if (fault.kind == FaultKind::cut) {
    session.block_until(timeline_.now() + fault.duration / 2);
  }
  session.cut(keep);
}

// The administrator looks for what the fault is about for a while, and acts when it is there.
void World::administer(const PlannedFault& fault) {
  const auto index = static_cast<std::uint64_t>(&fault - plan_.faults.data());
  const auto later = [&] {
    if (timeline_.now() - model::Timeline::start > milliseconds(600)) return;
    struck_[index] = false;
    timeline_.after(milliseconds(2), *this, 0, index);
  };
  if (!ensemble_.has_majority()) return later();
  if (fault.kind == FaultKind::wished) {
    if (!wish(fault)) later();
    return;
  }
  const std::uint64_t owner = checker_.owner(fault.monitor);
  const bool ours = owner != 0 && checker_.at(owner).process != nullptr;
  coordination::Request request;
  switch (fault.kind) {
    case FaultKind::foreign_child: {
      static constexpr std::array<const char*, 4> names = {"/note", "/z-0000000001", "/C-0000000005", "/lost+found"};
      request = coordination::Create{monitor_path(fault.monitor) + names[random_.below(names.size())], "x"};
      break;
    }
    case FaultKind::foreign_monitor: {
      const std::string monitor = monitor_path(fault.monitor);
      const model::Node* node = ensemble_.truth().find(monitor);
      if (node != nullptr && !node->children.empty()) return later();
      if (node != nullptr) ensemble_.administer(coordination::Delete{monitor});
      request = coordination::Create{monitor, random_.chance(0.5) ? "another program's" : ""};
      break;
    }
    case FaultKind::waiter_removed: {
      const std::uint64_t waiter = checker_.some_waiter(fault.monitor);
      if (waiter == 0) return later();
      request = coordination::Delete{checker_.at(waiter).node};
      break;
    }
    default: {
      if (!ours || checker_.at(owner).node.empty()) return later();
      if (fault.kind == FaultKind::member_removed && !sets_.keeps_while_it_waits(owner)) return later();
      const coordination::Delete node{checker_.at(owner).node};
      const coordination::Delete lock{lock_path(fault.monitor)};
      request = coordination::Transaction{{node, lock}};
      if (fault.kind == FaultKind::holder_removed) request = node;
      if (fault.kind == FaultKind::private_removed) request = lock;
      if (fault.kind == FaultKind::monitor_removed) {
        coordination::Transaction all{{node, lock}};
        const std::string monitor = monitor_path(fault.monitor);
        for (const std::string& child : ensemble_.truth().find(monitor)->children) {
          const std::string path = monitor + "/" + child;
          if (path != node.path && path != lock.path) all.operations.emplace_back(coordination::Delete{path});
        }
        all.operations.emplace_back(coordination::Delete{monitor});
        request = std::move(all);
      }
    }
  }
  if ((fault.kind == FaultKind::lock_removed || fault.kind == FaultKind::member_removed) &&
      ensemble_.truth().find(monitor_path(fault.monitor))->data == lock::monitor_mark) {
    // As an administrator's command does it: the names of its nodes are not given again.
    std::get<coordination::Transaction>(request).operations.emplace_back(
        coordination::SetData{monitor_path(fault.monitor), std::string(lock::monitor_mark)});
  }
  ++statistics_.faults[static_cast<std::size_t>(fault.kind)];
  if (trace_.on()) trace_fault(fault);
  ensemble_.administer(std::move(request));
}

// As an operator's command does it: its process watches the first of its nodes.
bool World::wish(const PlannedFault& fault) {
  const std::vector<std::uint64_t> waiters = checker_.waiters(fault.monitor);
  if (waiters.empty()) return false;
  const std::uint64_t id = waiters[random_.below(waiters.size())];
  const bool foreground = (checker_.at(id).priority == Priority::background) != random_.chance(0.1);
  const Priority priority = foreground ? Priority::foreground : Priority::background;
  const std::uint64_t first = checker_.first_of_session(id);
  coordination::Transaction transaction{
      {coordination::SetData{checker_.at(id).node, record_of(foreground ? foreground_wish : background_wish, id)}}};
  if (first != id) {
    const std::string& node = checker_.at(first).node;
    transaction.operations.emplace_back(coordination::SetData{node, ensemble_.truth().find(node)->data});
  }
  ++statistics_.faults[static_cast<std::size_t>(fault.kind)];
  if (trace_.on()) trace_fault(fault, " of " + std::to_string(id) + ": " + std::string(name_of(priority)));
  ensemble_.administer(std::move(transaction));
  checker_.wished(id, priority);
  if (first != id) checker_.touched(first);
  return true;
}

}  // namespace forelock::simulation
