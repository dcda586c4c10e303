#include "client/lock_slot.h"

#include <algorithm>
#include <utility>

#include "client/clock.h"
#include "client/guarded_write.h"
#include "lock/monitor_name.h"
#include "records/wall_time.h"

namespace forelock::client {

namespace {

std::string encode_or_throw(const std::string& monitor) {
  lock::EncodedName name = lock::encode_monitor_name(monitor);
  if (name) return *std::move(name.name);
  throw RequestRejectedException(ErrorCode::invalid_argument, monitor, "the monitor id " + name.problem,
                                 "ids are UTF-8 text of 1 to 255 bytes after encoding");
}

}  // namespace

LockSlot::LockSlot(std::shared_ptr<ClientCore> core, std::string lock_info, std::string monitor, Priority priority,
                   LockOptions options)
    : Hold(std::move(core), std::move(lock_info), monitor, "the lock on " + monitor, priority, std::move(options)),
      node_name_(encode_or_throw(monitor)) {
  begin_tracing(monitor, 1);
}

// --- releasing ---

bool LockSlot::release_held(agent::Agent& agent, Done& done, bool is_waited_for) {
  const bool answer_wanted = static_cast<bool>(done);
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex());
    const Phase before = phase();
    if (before != Phase::held && before != Phase::lost) return false;
    begin_release(std::move(done), is_waited_for);
    if (before == Phase::lost) {
      told_released(release_of(*loss()));
      return true;
    }
    contender = contender_;
  }
  // released() follows, or has come; or release_unanswered().
  const bool begun =
      answer_wanted ? agent.release(contender, now() + ensemble().session_timeout()) : agent.release(contender);
  if (!begun) released(contender, lock::ReleaseOutcome::gone);
  return true;
}

void LockSlot::forget_release() {
  const std::lock_guard guard(mutex());
  contender_ = 0;
}

void LockSlot::release_detached() noexcept {
  if (core().in_forked_child()) return;
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex());
    if (phase() == Phase::lost) set_phase(Phase::free);
    if (phase() != Phase::held) return;
    told_abandoned();
    contender = std::exchange(contender_, 0);
  }
  core().in_step([&](agent::Agent& agent) { agent.release_detached(contender); });
}

void LockSlot::abandon() noexcept {
  lock::ContenderId contender = 0;
  {
    // One section for both: a grant that came between two would find no thread to give the lock back.
    const std::lock_guard guard(mutex());
    const lock::ContenderId ours = std::exchange(contender_, 0);
    if (phase() == Phase::waiting || phase() == Phase::held) {
      contender = ours;
      told_abandoned();
    }
  }
  if (contender != 0) core().in_step([&](agent::Agent& agent) { agent.release_detached(contender); });
}

// --- from the core ---

bool LockSlot::begin(lock::ContenderId contender) {
  const std::lock_guard guard(mutex());
  contender_ = contender;
  return !cancelled_;
}

lock::Duration LockSlot::granted(lock::ContenderId contender, const lock::Grant& grant) {
  const std::lock_guard guard(mutex());
  if (contender != contender_) return lock::Duration{0};
  token_ = grant.token;
  record_.acquired_at = records::wall_time_now();
  // What alive() has said of an earlier grant.
  record_.fencing_token.reset();
  record_.alert_at.reset();
  record_.expected_runtime = options().expected_runtime;
  record_.linger = core().linger_of(options());
  if (const auto expected = options().expected_runtime) {
    record_.alert_at = records::later(*record_.acquired_at, *expected);
  }
  if (const auto unlock = options().auto_unlock_after) {
    record_.auto_unlock_at = records::later(*record_.acquired_at, *unlock);
  }
  told_held(grant.token, course_of(grant));
  return danger_margin().value_or(std::chrono::milliseconds{0});
}

std::optional<lock::Duration> LockSlot::taken(const linger::Lock& lock) {
  if (begin(lock.contender)) {
    const std::lock_guard guard(mutex());
    record_.guid = lock.guid;  // by which the servers' answers are recognised
  } else {
    refused(lock.contender, {.reason = lock::RefusalReason::cancelled});
    return std::nullopt;
  }
  return granted(lock.contender, {lock.token, {}});
}

void LockSlot::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  const std::lock_guard guard(mutex());
  if (contender != contender_) return;
  contender_ = 0;
  told_failed({.refusal = refusal});
}

void LockSlot::lost(lock::ContenderId contender, LossReason reason) {
  const std::lock_guard guard(mutex());
  if (contender != contender_) return;
  contender_ = 0;
  told_lost({.reason = reason});
}

void LockSlot::release_ended(lock::ContenderId contender, const Release& release) {
  const std::lock_guard guard(mutex());
  if (contender != contender_ || phase() != Phase::releasing) return;
  contender_ = 0;
  told_released(release);
}

void LockSlot::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  release_ended(contender, {.outcome = outcome});
}

void LockSlot::release_unanswered(lock::ContenderId contender) {
  release_ended(contender, {.confirmed = false});
}

GrantCourse LockSlot::course_of(const lock::Grant& grant) {
  if (!traces()) return {};
  GrantCourse course = ensemble().course_of(contender_);
  if (!grant.node.empty()) course.node = grant.node;
  return course;
}

void LockSlot::queued(lock::ContenderId contender, const QueuePosition& position) {
  {
    const std::lock_guard guard(mutex());
    if (contender == contender_) told_place(position.place);
  }
  tell_queued(0, position);
}

void LockSlot::contended(lock::ContenderId, Priority waiting) {
  tell_contended(0, waiting);
}

void LockSlot::in_danger(lock::ContenderId) {
  tell_danger();
}

// --- under the held lock ---

OwnerRecord LockSlot::owner() const {
  const std::lock_guard guard(mutex());
  return record_;
}

void LockSlot::watch_danger_of_held(agent::Agent& agent, std::chrono::milliseconds margin) {
  lock::ContenderId holder = 0;
  {
    const std::lock_guard guard(mutex());
    if (!holds()) return;
    holder = contender_;
  }
  if (agent.is_of(*this, holder)) agent.watch_danger(holder, margin);
}

void LockSlot::alive(std::chrono::milliseconds expected) {
  check_health();
  std::string json;
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex());
    const WallTime time = records::wall_time_now();
    record_.expected_runtime = expected;
    record_.alert_at = records::later(time, expected);
    if (const auto unlock = options().auto_unlock_after) record_.auto_unlock_at = records::later(time, *unlock);
    record_.linger.reset();                 // it ends with the section that the record speaks of
    record_.fencing_token = token_.load();  // readers cannot take it from the transaction any more
    json = record_.to_json();
    contender = contender_;
  }
  const bool told = core().in_step([&](agent::Agent& agent) {
    return agent.is_of(*this, contender) && agent.update_record(contender, std::move(json));
  });
  if (!told) check_health();
}

std::vector<WriteResult> LockSlot::write_guarded(const std::vector<WriteOperation>& operations) {
  check_health();
  lock::ContenderId contender = 0;
  std::string guid;
  {
    const std::lock_guard guard(mutex());
    contender = contender_;
    guid = record_.guid;
  }
  const auto still_held = [this, contender] {
    const std::lock_guard guard(mutex());
    return holds() && contender_ == contender;
  };
  return GuardedWrite({.ensemble = ensemble(),
                       .caller = *this,
                       .name = name(),
                       .holds = {{name(), node_name_, contender, guid}},
                       .check_health = [this] { check_health(); },
                       .still_held = still_held})
      .commit(operations);
}

}  // namespace forelock::client
