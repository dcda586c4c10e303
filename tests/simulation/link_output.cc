// What an agent tells whoever looks on.
#include "describe.h"
#include "link.h"
#include "process.h"
#include "world.h"

namespace forelock::simulation {

void Link::sent(coordination::RequestTag tag, const coordination::Request& request) {
  if (tracing()) trace("-> #" + std::to_string(tag) + " " + describe(request));
  if (std::holds_alternative<coordination::List>(request)) ++lists_;
  last_sent_ = tag;
  if (process_.is_down()) return;
  if (const std::uint64_t contender = world_.requests().sent(*this, tag, request); contender != 0) {
    giving_up_[tag] = contender;
  }
  if (std::holds_alternative<coordination::RemoveDataWatch>(request)) ++world_.statistics().forgotten_watches;
  if (const auto* removal = std::get_if<coordination::Delete>(&request); removal && removal->path.size() == 2) {
    ++world_.statistics().renewed_monitors;
  }
  if (is_knock(request)) ++world_.statistics().set_knocks;
  unanswered_.insert(tag);
}

void Link::withdrawn(coordination::RequestTag tag) {
  if (tracing()) trace("xx #" + std::to_string(tag) + " withdrawn");
  ++world_.statistics().withdrawn;
  unanswered_.erase(tag);
}

void Link::Wire::submit(coordination::RequestTag tag, coordination::Request request) {
  if (link_.process_.is_down()) return;
  World& world = link_.world_;
  if ((tag & grouping::GroupingSession::group_tag) != 0) {
    if (link_.tracing()) link_.trace("=> " + describe(request));
    ++world.statistics().groups;
    const std::size_t operations = std::get<coordination::Transaction>(request).operations.size();
    if (operations > world.plan().grouping.operations) {
      world.checker().fail(Invariant::requests,
                           link_.name_ + " sends a group of " + std::to_string(operations) + " operations");
    }
  }
  world.submit({link_.process_.index(), ++link_.requests_}, *link_.session_, tag, std::move(request));
}

void Link::begins(lock::ContenderId contender, const lock::AcquireSpec& spec) {
  lists_at_call_[contender] = lists_;
  world_.checker().at(contender).hold_watch_later = spec.hold_watch_later;
  world_.checker().at(contender).priority = spec.priority;
  if (!tracing()) return;
  trace("acquire " + std::to_string(contender) + " " + spec.monitor +
        (spec.priority == Priority::foreground ? " foreground" : " background") + (spec.try_once ? " once" : "") +
        (expected_deadline_ == lock::never
             ? ""
             : " patience " + std::to_string(expected_.patience / microseconds(1)) + " us"));
}

void Link::taken_again(lock::ContenderId contender, Priority priority) {
  if (tracing()) trace("takes " + std::to_string(contender) + " again");
  world_.checker().taken_again(contender, priority);
}

void Link::lingers(lock::ContenderId contender) {
  if (tracing()) trace("keeps " + std::to_string(contender));
  world_.checker().lingers(contender);
  process_.lingers(contender);
}

void Link::given_up(lock::ContenderId contender, bool begun) {
  if (tracing()) trace("gives up " + std::to_string(contender) + (begun ? "" : ": not held any more"));
  world_.checker().given_up(contender, begun);
}

void Link::release_called(lock::ContenderId contender, bool begun) {
  if (tracing()) trace("release " + std::to_string(contender) + (begun ? "" : ": not held any more"));
  world_.checker().release_called(contender, begun);
}

void Link::cancel_called(lock::ContenderId contender, bool begun) {
  if (tracing()) trace("cancel " + std::to_string(contender) + (begun ? "" : ": no"));
  world_.checker().cancel_called(contender, begun);
}

void Link::set_priority_called(lock::ContenderId contender, Priority priority, bool begun) {
  if (tracing()) {
    trace(std::string(name_of(priority)) + " from now on: " + std::to_string(contender) + (begun ? "" : ": no"));
  }
  if (!begun) return;
  world_.checker().class_changed(contender, priority);
}

void Link::inside_called(lock::ContenderId inner, const std::vector<lock::ContenderId>& outer_ones) {
  for (const lock::ContenderId outer : outer_ones) {
    if (tracing()) trace(std::to_string(inner) + " is inside of " + std::to_string(outer));
    world_.checker().inside(inner, outer);
  }
}

void Link::step_aside_called(lock::ContenderId contender, bool begun, lock::TimePoint deadline) {
  if (tracing()) trace("step aside " + std::to_string(contender) + (begun ? "" : ": no"));
  world_.checker().step_aside_called(contender, begun, deadline);
  process_.stepped_aside(contender);
}

void Link::granted(lock::ContenderId contender, const lock::Grant& grant) {
  if (tracing())
    trace("** granted " + std::to_string(contender) + " token " + std::to_string(grant.token) + " " + grant.node);
  if (lists_at_call_[contender] == lists_) ++world_.statistics().number_proofs;
  world_.checker().granted(contender, grant);
}

void Link::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  if (tracing()) {
    trace("** refused " + std::to_string(contender) + " " + std::string(name_of(refusal.reason)) +
          (refusal.reason == lock::RefusalReason::rejected ? " " + std::string(coordination::name_of(refusal.code))
                                                           : ""));
  }
  world_.checker().refused(contender, refusal.reason, connected_ ? Span{} : now() - down_since_);
}

void Link::proved(lock::ContenderId contender) {
  if (tracing()) trace("** proved " + std::to_string(contender));
}

void Link::lost(lock::ContenderId contender, LossReason reason, bool /*in_use*/) {
  if (tracing()) trace("** lost " + std::to_string(contender) + " " + std::string(name_of(reason)));
  world_.checker().lost(contender, reason);
}

void Link::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  if (tracing()) trace("** released " + std::to_string(contender) + " " + std::string(name_of(outcome)));
  world_.checker().released(contender, outcome);
}

void Link::queued(lock::ContenderId contender, const QueuePosition& position) {
  if (tracing())
    trace("** queued " + std::to_string(contender) + " " + std::to_string(position.place) + " behind " +
          position.behind);
}

void Link::moved(lock::ContenderId contender, Priority rank) {
  if (tracing())
    trace("** moved " + std::to_string(contender) + (rank == Priority::foreground ? " foreground" : " background"));
}

void Link::record_changed(lock::ContenderId contender, const std::string& record) {
  if (tracing()) trace("** record changed " + std::to_string(contender) + " " + record);
  world_.checker().record_change_told(contender);
}

void Link::contended(lock::ContenderId contender, Priority waiting) {
  if (tracing())
    trace("** contended " + std::to_string(contender) +
          (waiting == Priority::foreground ? " foreground" : " background"));
  process_.contended(contender, waiting);
}

void Link::forgotten(lock::ContenderId contender) {
  if (tracing()) trace("** forgotten " + std::to_string(contender));
  world_.checker().forgotten(contender);
  lists_at_call_.erase(contender);
}

void Link::counter_high(const std::string& monitor, std::int64_t number) {
  if (tracing()) trace("** counter high " + monitor + " " + std::to_string(number));
}

}  // namespace forelock::simulation
