// The implementation of one lock set object: the course of its members, their tokens.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/held_header.h"
#include "client/hold.h"
#include "client/set_run.h"
#include "forelock/lock_set.h"
#include "sets/set_machine.h"

namespace forelock::client {

class SetSlot final : public Hold {
 public:
  // \throws RequestRejectedException(invalid_argument) for an invalid monitor id, for none and for too many.
  SetSlot(std::shared_ptr<ClientCore> core, std::string lock_info, const std::vector<std::string>& monitors,
          Priority priority, LockOptions options);

  const std::vector<std::string>& monitors() const { return members_->monitors; }
  std::vector<MemberToken> tokens() const;
  std::int64_t member_token(std::size_t member) const;
  std::optional<std::string> waits_for() const;
  std::int64_t token() const noexcept override { return 0; }
  std::string held_header() const override { return client::held_header(tokens()); }
  OwnerRecord owner() const override;
  void alive(std::chrono::milliseconds expected) override;
  std::vector<WriteResult> write_guarded(const std::vector<WriteOperation>& operations) override;

  Acquisition acquire(lock::TimePoint deadline, bool try_only, Done done = {}) override;
  void release_detached() noexcept override;
  void add_held(std::vector<lock::ContenderId>& found) const override;

  // --- from the run, under the core's mutex ---

  void advanced(const std::shared_ptr<SetRun>& run);
  void contended(const SetRun& run, std::size_t member, Priority waiting);
  void queued(const SetRun& run, std::size_t member, const QueuePosition& position);
  void in_danger(const SetRun& run);
  // It is of this class now.
  void wished(const SetRun& run, Priority priority);
  // Perhaps it has waited long enough for the servers to confirm what it has given back.
  void time_has_come(const std::shared_ptr<SetRun>& run, lock::TimePoint time);
  // Without the mutex.
  void wake() { wake_waiters(); }

 private:
  SetSlot(std::shared_ptr<ClientCore> core, std::string lock_info, std::shared_ptr<const SetMembers> members,
          Priority priority, LockOptions options);

  // --- Hold ---

  const std::string& monitor_of(std::size_t member) const override { return monitors()[member]; }
  client::Acquisition acquisition_of(std::size_t member) const override;
  bool cancel_waiting(agent::Agent& agent) override;
  bool move_waiting(agent::Agent& agent, Priority priority) override;
  bool step_aside_held(agent::Agent& agent, lock::TimePoint deadline) override;
  void watch_danger_of_held(agent::Agent& agent, std::chrono::milliseconds margin) override;
  bool release_held(agent::Agent& agent, Done& done, bool is_waited_for) override;
  void forget_release() override;
  void abandon() noexcept override;

  std::shared_ptr<SetSlot> shared() { return std::static_pointer_cast<SetSlot>(shared_from_this()); }
  // Without a guid and the stack.
  OwnerRecord new_set_record() const;
  // Those that follow require mutex().
  void told_tokens(const sets::SetMachine& machine);
  void run_failed(const SetRun& run);
  void run_released(const Release& release);
  // It has waited long enough. From a step of the core, without mutex().
  void time_is_up(const std::shared_ptr<SetRun>& run);
  bool is_current(const SetRun& run) const { return run_.get() == &run; }

  const std::shared_ptr<const SetMembers> members_;
  std::shared_ptr<SetRun> run_;                  // that is not over; set and reset under the core's mutex, too
  bool patience_begun_ = false;                  // for the members of a failed acquisition to be given back
  lock::TimePoint patience_ends_ = lock::never;  // for what is being given back to be confirmed
  std::vector<std::int64_t> tokens_;
  std::optional<std::size_t> waits_for_;
};

}  // namespace forelock::client
