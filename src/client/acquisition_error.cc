#include "client/acquisition_error.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "base/counted.h"
#include "base/shell_word.h"
#include "client/clock.h"
#include "client/reply_error.h"
#include "lock/child_name.h"
#include "records/wall_time.h"

namespace forelock::client {

using coordination::Reply;
using coordination::ReplyCode;

namespace {

// How long a caller whose time is up is kept waiting for the name of the holder.
constexpr std::chrono::milliseconds look_at_holder_for{150};
// A free lock costs a few round trips.
constexpr std::chrono::seconds enough_for_a_free_lock{1};

std::string lock_path(const std::string& node_name) {
  return "/" + node_name + "/" + std::string(lock::private_lock_name);
}

std::chrono::milliseconds milliseconds_of(lock::Duration time) {
  return std::chrono::round<std::chrono::milliseconds>(time);
}

std::string seconds_text(std::chrono::milliseconds time) {
  const auto tenths = std::max<std::int64_t>(0, (time.count() + 50) / 100);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

// Asked only now, so that it is who holds the lock now; a waiting call costs nothing for it.
std::string describe_holder(EnsembleLink& ensemble, const Acquisition& acquisition) {
  std::future<Reply> answer;
  try {
    answer = ensemble.request(coordination::Get{lock_path(acquisition.node_name), false});
  } catch (const Error&) {
    return "";
  }
  if (answer.wait_for(look_at_holder_for) != std::future_status::ready) return "";
  const Reply reply = answer.get();
  if (reply.code == ReplyCode::no_node) return "; it is not held at this moment";
  if (!reply.ok()) return "";
  const auto owner = OwnerRecord::from_json(reply.data);
  if (!owner) return "; a client that leaves no record holds it";
  if (owner->guid == acquisition.guid) {
    const bool servers_are_slow = now() - acquisition.since >= enough_for_a_free_lock;
    return std::string("; it was granted only after that and is being given back") +
           (servers_are_slow ? ": the servers are slow (forelock doctor)" : "");
  }
  std::string text = "; held by " + owner->instance + " for \"" + owner->lock_info + "\" (" +
                     std::string(name_of(owner->priority)) + ")";
  if (owner->acquired_at) {
    const WallTime time = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    text += " since " + records::format_wall_time(*owner->acquired_at) + " (" +
            seconds_text(time - *owner->acquired_at) + ")";
  }
  return text;
}

// Why there was no waiting any longer: the caller's own time, or what is configured for the client.
std::string describe_patience(EnsembleLink& ensemble, const Acquisition& acquisition) {
  if (acquisition.deadline <= now()) {
    const auto given = std::chrono::round<std::chrono::milliseconds>(acquisition.deadline - acquisition.since);
    return "; none came within the " + std::to_string(given.count()) + " ms that there were for the lock";
  }
  const Settings& settings = ensemble.core().settings();
  const int tries = settings.connection_retry();
  if (tries * settings.connection_delay() == std::chrono::milliseconds::zero()) {
    return "; zookeeper.connection.retry and zookeeper.connection.delay leave no time to try again";
  }
  return "; gave up after " + base::counted(static_cast<std::uint64_t>(tries), "try", "tries") + " in " +
         seconds_text(tries * settings.connection_delay()) + " (zookeeper.connection.retry)";
}

// Of each class, with the holder; those who have moved count where they stand.
std::string describe_before(const base::PerPriority<std::size_t>& before) {
  std::string text;
  for (const Priority rank : all_priorities) {
    if (before[rank] > 0) {
      text += (text.empty() ? " (before us: " : ", ") + std::to_string(before[rank]) + " " + std::string(name_of(rank));
    }
  }
  return text.empty() ? text : text + ")";
}

std::string describe_queue(const Acquisition& acquisition, const lock::Refusal& refusal) {
  const std::size_t before = refusal.position ? refusal.position->place - 1 : 0;
  std::string text = "the lock on " + acquisition.monitor + " was not waited for: " + std::to_string(before) +
                     " wait before us" + describe_before(refusal.before);
  if (refusal.wait_left) text += ", so it would take about " + seconds_text(milliseconds_of(*refusal.wait_left));
  return text;
}

std::string describe_timeout(EnsembleLink& ensemble, const Acquisition& acquisition, const lock::Refusal& refusal,
                             bool look_at_holder) {
  const auto waited = std::chrono::round<std::chrono::milliseconds>(acquisition.deadline - acquisition.since);
  std::string text =
      "the lock on " + acquisition.monitor + " was not obtained within " + std::to_string(waited.count()) + " ms";
  if (look_at_holder) text += describe_holder(ensemble, acquisition);
  if (refusal.position) {
    const bool next = refusal.position->behind == lock::private_lock_name;
    text += next ? "; we were first in the queue, behind the holder"
                 : "; our place in the queue was " + std::to_string(refusal.position->place) + ", behind " +
                       refusal.position->behind + describe_before(refusal.before);
  }
  if (refusal.wait_left)
    text += "; it would have taken about " + seconds_text(milliseconds_of(*refusal.wait_left)) + " more";
  if (const auto away = milliseconds_of(refusal.disconnected); away.count() > 0) {
    text += "; for " + std::to_string(away.count()) + " ms there was no connection to ZooKeeper";
  }
  return text;
}

}  // namespace

std::exception_ptr error_of(EnsembleLink& ensemble, const Acquisition& acquisition, const lock::Refusal& refusal,
                            bool look_at_holder) {
  using lock::RefusalReason;
  const std::string show = "forelock show " + base::shell_argument(acquisition.monitor);
  switch (refusal.reason) {
    case RefusalReason::timed_out:
      return std::make_exception_ptr(
          InstanceLockException(ErrorCode::lock_timeout, acquisition.monitor,
                                describe_timeout(ensemble, acquisition, refusal, look_at_holder), show));
    case RefusalReason::unavailable:
      return std::make_exception_ptr(
          InstanceLockException(ErrorCode::lock_unavailable, acquisition.monitor,
                                "the lock on " + acquisition.monitor + " is held or waited for", show));
    case RefusalReason::not_admitted:
      return std::make_exception_ptr(InstanceLockException(ErrorCode::lock_refused, acquisition.monitor,
                                                           describe_queue(acquisition, refusal), show));
    case RefusalReason::cancelled:
      return std::make_exception_ptr(
          InstanceLockException(ErrorCode::cancelled, acquisition.monitor,
                                "waiting for the lock on " + acquisition.monitor + " was cancelled"));
    case RefusalReason::session_expired:
      if (ensemble.standing_problem()) break;
      return std::make_exception_ptr(
          SessionExpiredException(ErrorCode::session_expired, acquisition.monitor,
                                  "the session ended while waiting for the lock on " + acquisition.monitor,
                                  "the same call may be repeated: the client makes a new session"));
    case RefusalReason::closed:
      return std::make_exception_ptr(
          RequestRejectedException(ErrorCode::closed, acquisition.monitor,
                                   "the client was closed while waiting for the lock on " + acquisition.monitor));
    case RefusalReason::rejected:
      try {
        throw_reply_error(refusal.code, acquisition.monitor, "cannot lock " + acquisition.monitor);
      } catch (...) {
        return std::current_exception();
      }
    case RefusalReason::connection_lost:
      break;
  }
  const std::string problem = ensemble.last_problem();
  const auto standing = ensemble.standing_problem();
  std::string message = "no connection to ZooKeeper, so no lock on " + acquisition.monitor;
  if (!problem.empty()) message += ": " + problem;
  if (standing) {
    return std::make_exception_ptr(
        RequestRejectedException(*standing, acquisition.monitor, message, "forelock doctor"));
  }
  message += describe_patience(ensemble, acquisition);
  return std::make_exception_ptr(
      ConnectionLossException(ErrorCode::connection_loss, acquisition.monitor, message, "forelock doctor"));
}

std::exception_ptr error_of(const std::string& monitor, lock::ReleaseOutcome outcome) {
  switch (outcome) {
    case lock::ReleaseOutcome::released:
      return nullptr;
    case lock::ReleaseOutcome::gone:
      return std::make_exception_ptr(NoNodeException(
          ErrorCode::no_node, monitor, "the lock on " + monitor + " did not exist any more when it was released",
          "its work may have overlapped with another holder's: its session was lost, or somebody removed it; who holds "
          "it now: forelock show " +
              base::shell_argument(monitor)));
    case lock::ReleaseOutcome::session_expired:
      break;
  }
  return std::make_exception_ptr(SessionExpiredException(
      ErrorCode::session_expired, monitor, "the session ended before the lock on " + monitor + " was released"));
}

LockUnhealthyException unhealthy(const std::string& monitor, const std::string& message) {
  return {ErrorCode::lock_unhealthy, monitor, message,
          "stop the work that it protects; another client may hold the lock"};
}

ConnectionLossException unconfirmed_release(const std::string& monitor) {
  return ConnectionLossException(
      ErrorCode::connection_loss, monitor,
      "the release of " + monitor +
          " is not confirmed: no answer from ZooKeeper. It continues in the background until "
          "it is certain or the session has ended");
}

std::exception_ptr destroyed_lock(const std::string& monitor) {
  return std::make_exception_ptr(InstanceLockException(
      ErrorCode::cancelled, monitor, "the lock object for " + monitor + " was destroyed before its answer came"));
}

}  // namespace forelock::client
