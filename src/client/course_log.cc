#include "client/course_log.h"

#include <chrono>

#include "config/printable.h"
#include "coordination/reply.h"

namespace forelock::client {

using lock::CourseStep;

std::string course_text(const lock::CourseNote& note) {
  const std::string node = config::printable(note.node);  // another client may have named it
  switch (note.step) {
    case CourseStep::claims_at_once:
      return "claims the lock with a new node: as far as is known nobody holds it or waits";
    case CourseStep::queued:
      return "is in the queue as " + node;
    case CourseStep::behind:
      return node == "privateLock" ? "waits for the holder, whose privateLock is there" : "waits behind " + node;
    case CourseStep::claims:
      return "is the next, and claims the lock";
    case CourseStep::handed_over:
      return "is the next, and is given the lock by " + node + " of this process";
    case CourseStep::taken:
      return "has not got the lock: another contender holds it";
    case CourseStep::numbered_first:
      return "goes first, proved by its number " + std::to_string(note.number) + ": no other contender is there";
    case CourseStep::seen_first:
      return "goes first: it was seen first in the queue, and none of its class or a later one can overtake it";
    case CourseStep::counted_first:
      return "goes first, proved by the number of nodes: there are only its own and privateLock";
    case CourseStep::listed_first:
      return "goes first, proved by the listing that was asked for behind its claim";
    case CourseStep::resolved_first:
      return "goes first, proved by what was read after the lost reply";
    case CourseStep::session_unproved:
      return "is granted the lock as soon as the session is proved to live";
    case CourseStep::yields:
      return "gives the lock back before it was granted: " + (node.empty() ? "another contender" : node) +
             " goes before it";
    case CourseStep::steps_aside:
      return "gives the lock back for those that go before it, as asked, and keeps its place";
    case CourseStep::moves:
      return "moves to the end of another class's queue, in place of " + node;
    case CourseStep::node_gone:
      return "is not in the queue: its node is not there; it begins anew";
    case CourseStep::reply_lost:
      return "has lost a reply: what the server did is found out";
    case CourseStep::resolved_owner:
      return "after the lost reply: privateLock is its own";
    case CourseStep::resolved_queued:
      return "after the lost reply: it is in the queue as " + node;
    case CourseStep::resolved_not_there:
      return "after the lost reply: the server has not applied the request; it begins anew";
  }
  return "?";
}

std::string grant_text(const lock::Grant& grant) {
  return "is granted the lock as " + grant.node + ", token " + std::to_string(grant.token);
}

std::string refusal_text(const lock::Refusal& refusal) {
  std::string text = "is refused: ";
  switch (refusal.reason) {
    case lock::RefusalReason::timed_out:
      text += "its time is over";
      break;
    case lock::RefusalReason::unavailable:
      text += "the lock is held or waited for, and it does not wait";
      break;
    case lock::RefusalReason::not_admitted:
      text += "too many wait";
      break;
    case lock::RefusalReason::cancelled:
      text += "it was cancelled";
      break;
    case lock::RefusalReason::connection_lost:
      text += "there is no connection to ZooKeeper";
      break;
    case lock::RefusalReason::session_expired:
      text += "the session has ended";
      break;
    case lock::RefusalReason::rejected:
      text += "the server refuses the request";
      break;
    case lock::RefusalReason::closed:
      text += "the client is closed";
      break;
  }
  if (refusal.position) {
    text += "; it was at place " + std::to_string(refusal.position->place) + ", behind " +
            config::printable(refusal.position->behind);
  }
  return text;
}

std::string release_text(lock::ReleaseOutcome outcome) {
  switch (outcome) {
    case lock::ReleaseOutcome::released:
      return "is released";
    case lock::ReleaseOutcome::gone:
      return "has nothing to release: the lock had been removed";
    case lock::ReleaseOutcome::session_expired:
      return "is released by the end of its session";
  }
  return "?";
}

std::string_view loss_text(LossReason reason) {
  switch (reason) {
    case LossReason::deadline_passed:
      return "has lost the lock: the session could not be proved to live in time";
    case LossReason::session_expired:
      return "has lost the lock: the server has ended the session";
    case LossReason::removed:
      return "has lost the lock: another client has removed it";
    case LossReason::closed:
      return "has lost the lock: the client is closed";
  }
  return "?";
}

std::string contention_text(Priority waiting) {
  return "is told that a " + std::string(name_of(waiting)) + " contender waits behind it";
}

void CourseLog::begins(lock::ContenderId contender, const lock::AcquireSpec& spec, lock::TimePoint now) {
  monitors_[contender] = spec.monitor;
  std::string text = std::string("asks for the lock, ") + std::string(name_of(spec.priority));
  if (spec.try_once) {
    text += ", without waiting";
  } else if (spec.deadline != lock::never) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(spec.deadline - now);
    text += ", for at most " + std::to_string(left.count()) + " ms";
  }
  note(contender, text);
}

void CourseLog::note(lock::ContenderId contender, std::string_view text) {
  const auto monitor = monitors_.find(contender);
  const std::string_view name = monitor == monitors_.end() ? "?" : std::string_view(monitor->second);
  std::string line;
  line.append("monitor ").append(name).append(", contender ").append(std::to_string(contender)).append(": ");
  log_.write("debug", line.append(text));
}

void CourseLog::forgotten(lock::ContenderId contender) {
  note(contender, "has left nothing on the server");
  monitors_.erase(contender);
}

}  // namespace forelock::client
