#include "client/set_slot.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/clock.h"
#include "lock/monitor_name.h"
#include "sets/canonical_order.h"

namespace forelock::client {

namespace {

// How long the caller of a failed acquisition is kept waiting for the servers to confirm what it gives back.
constexpr std::chrono::seconds give_back_patience{1};

std::shared_ptr<const SetMembers> members_or_throw(const std::vector<std::string>& monitors) {
  const auto refuse = [](const std::string& monitor, const std::string& why, const std::string& hint) {
    throw RequestRejectedException(ErrorCode::invalid_argument, monitor, why, hint);
  };
  if (monitors.empty()) refuse({}, "a lock set without a member", "name at least one monitor");
  std::vector<std::string> names;
  names.reserve(monitors.size());
  for (const std::string& monitor : monitors) {
    lock::EncodedName name = lock::encode_monitor_name(monitor);
    if (!name) refuse(monitor, "the monitor id " + name.problem, "ids are UTF-8 text of 1 to 255 bytes after encoding");
    names.push_back(*std::move(name.name));
  }
  auto members = std::make_shared<SetMembers>();
  for (const std::size_t i : sets::canonical_order(names)) {
    members->monitors.push_back(monitors[i]);
    members->node_names.push_back(names[i]);
  }
  if (members->monitors.size() > LockSet::max_members) {
    refuse({},
           "a lock set of " + std::to_string(members->monitors.size()) + " members; at most " +
               std::to_string(LockSet::max_members) + " are possible",
           "split the bulk into several sets");
  }
  return members;
}

std::string name_of_set(const std::vector<std::string>& monitors) {
  if (monitors.size() == 1) return monitors.front();
  return monitors.front() + " and " + std::to_string(monitors.size() - 1) + " more";
}

}  // namespace

SetSlot::SetSlot(std::shared_ptr<ClientCore> core, std::string lock_info, const std::vector<std::string>& monitors,
                 Priority priority, LockOptions options)
    : SetSlot(std::move(core), std::move(lock_info), members_or_throw(monitors), priority, std::move(options)) {}

SetSlot::SetSlot(std::shared_ptr<ClientCore> core, std::string lock_info, std::shared_ptr<const SetMembers> members,
                 Priority priority, LockOptions options)
    : Hold(std::move(core), std::move(lock_info), name_of_set(members->monitors),
           "the lock set of " + name_of_set(members->monitors), priority, std::move(options)),
      members_(std::move(members)),
      tokens_(members_->monitors.size()) {
  begin_tracing(members_->monitors.front(), members_->monitors.size());
}

// --- releasing ---

bool SetSlot::release_held(agent::Agent& agent, Done& done, bool is_waited_for) {
  const lock::TimePoint confirmed_by = now() + ensemble().session_timeout();
  {
    const std::lock_guard guard(mutex());
    if ((phase() != Phase::held && phase() != Phase::lost) || !run_) return false;
    begin_release(std::move(done), is_waited_for);
    patience_ends_ = confirmed_by;
  }
  const auto run = run_;  // its end resets run_
  agent.call_at(confirmed_by, run);
  run->release();
  return true;
}

void SetSlot::forget_release() {
  if (const auto run = run_) time_is_up(run);  // which resets run_
}

void SetSlot::release_detached() noexcept {
  if (core().in_forked_child()) return;
  core().in_step([&](agent::Agent&) {
    std::shared_ptr<SetRun> run;
    {
      const std::lock_guard guard(mutex());
      if (phase() != Phase::held && phase() != Phase::lost) return;
      told_abandoned();
      run = std::exchange(run_, nullptr);
    }
    if (run) run->release();
  });
}

void SetSlot::abandon() noexcept {
  core().in_step([&](agent::Agent&) {
    std::shared_ptr<SetRun> run;
    {
      const std::lock_guard guard(mutex());
      told_abandoned();
      run = std::exchange(run_, nullptr);
    }
    if (run && !run->release()) run->cancel();
  });
}

// --- from the run ---

void SetSlot::advanced(const std::shared_ptr<SetRun>& run) {
  using sets::SetStage;
  const std::lock_guard guard(mutex());
  if (!is_current(*run)) return;
  const sets::SetMachine& machine = run->machine();
  waits_for_ = machine.waits_for();
  const Phase before = phase();
  switch (machine.stage()) {
    case SetStage::taking:
      return;
    case SetStage::held:
      if (before == Phase::waiting) {
        told_tokens(machine);
        if (const auto margin = danger_margin()) run->watch_danger(*margin);
      }
      break;
    case SetStage::lost:
      if (before == Phase::waiting) told_tokens(machine);  // both in one step
      if (phase() == Phase::held) told_lost(*machine.loss());
      break;
    case SetStage::failing:
      if (before != Phase::waiting || patience_begun_) return;
      patience_begun_ = true;
      if (ensemble().connected()) {
        patience_ends_ = now() + give_back_patience;
        return ensemble().agent().call_at(patience_ends_, run);
      }
      run_failed(*run);
      break;
    case SetStage::releasing:
      return;
    case SetStage::free:
      if (before == Phase::waiting) {
        run_failed(*run);
      } else if (before == Phase::releasing) {
        Release release;
        if (const auto& loss = machine.loss()) {
          release = release_of(*loss);
        } else if (const auto& bad = machine.bad_release()) {
          release = {bad->member, bad->outcome};
        }
        run_released(release);
      }
      break;
  }
  run->wake_owner();
}

void SetSlot::time_has_come(const std::shared_ptr<SetRun>& run, lock::TimePoint time) {
  {
    const std::lock_guard guard(mutex());
    if (time < patience_ends_) return;  // it was another one of the run's times
  }
  time_is_up(run);
}

void SetSlot::time_is_up(const std::shared_ptr<SetRun>& run) {
  const std::lock_guard guard(mutex());
  if (!is_current(*run)) return;
  const sets::SetStage stage = run->machine().stage();
  if (phase() == Phase::waiting && stage == sets::SetStage::failing) {
    run_failed(*run);
  } else if (phase() == Phase::releasing && stage == sets::SetStage::releasing) {
    // Of a set that is lost the loss is told, although other members are still being released.
    const auto& loss = run->machine().loss();
    run_released(loss ? release_of(*loss) : Release{.confirmed = false});
  } else {
    return;
  }
  run->wake_owner();
}

void SetSlot::told_tokens(const sets::SetMachine& machine) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) tokens_[i] = machine.token(i);
  told_held(tokens_.size() == 1 ? tokens_.front() : 0, {});
}

void SetSlot::run_failed(const SetRun& run) {
  told_failed(*run.machine().failure());
  run_.reset();
}

void SetSlot::run_released(const Release& release) {
  told_released(release);
  run_.reset();
}

void SetSlot::queued(const SetRun& run, std::size_t member, const QueuePosition& position) {
  {
    const std::lock_guard guard(mutex());
    if (!is_current(run)) return;
    told_place(position.place);  // of the member that it waits for
  }
  tell_queued(member, position);
}

void SetSlot::contended(const SetRun& run, std::size_t member, Priority waiting) {
  {
    const std::lock_guard guard(mutex());
    if (!is_current(run)) return;
  }
  tell_contended(member, waiting);
}

void SetSlot::in_danger(const SetRun& run) {
  {
    const std::lock_guard guard(mutex());
    if (!is_current(run)) return;
  }
  tell_danger();
}

}  // namespace forelock::client
