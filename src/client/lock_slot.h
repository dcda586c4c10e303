// The implementation of one lock object: one contender, its record, its token.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/contender_listener.h"
#include "client/held_header.h"
#include "client/hold.h"
#include "forelock/write_lock.h"

namespace forelock::client {

class LockSlot final : public agent::ContenderListener, public Hold {
 public:
  // \throws RequestRejectedException(invalid_argument) for an impossible monitor id.
  LockSlot(std::shared_ptr<ClientCore> core, std::string lock_info, std::string monitor, Priority priority,
           LockOptions options);

  const std::string& monitor() const { return name(); }
  std::int64_t token() const noexcept override { return token_.load(std::memory_order_acquire); }
  std::string held_header() const override { return client::held_header({{monitor(), token()}}); }
  OwnerRecord owner() const override;
  void alive(std::chrono::milliseconds expected) override;
  std::vector<WriteResult> write_guarded(const std::vector<WriteOperation>& operations) override;

  Acquisition acquire(lock::TimePoint deadline, bool try_once, Done done = {}) override;
  void release_detached() noexcept override;
  void add_held(std::vector<lock::ContenderId>& found) const override;

  // --- ContenderListener; `contender` may be an earlier acquisition: of a slot that did not wait for the end, these
  // are no news ---

  bool begin(lock::ContenderId contender) override;
  lock::Duration granted(lock::ContenderId contender, const lock::Grant& grant) override;
  std::optional<lock::Duration> taken(const linger::Lock& lock) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void release_unanswered(lock::ContenderId contender) override;
  void record_changed(lock::ContenderId contender, const std::string& record) override;
  void queued(lock::ContenderId contender, const QueuePosition& position) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void in_danger(lock::ContenderId contender) override;
  void wake() override { wake_waiters(); }

 private:
  // --- Hold ---

  const std::string& monitor_of(std::size_t) const override { return name(); }
  client::Acquisition acquisition_of(std::size_t member) const override;
  bool cancel_waiting(agent::Agent& agent) override;
  bool move_waiting(agent::Agent& agent, Priority priority) override;
  bool step_aside_held(agent::Agent& agent, lock::TimePoint deadline) override;
  void watch_danger_of_held(agent::Agent& agent, std::chrono::milliseconds margin) override;
  bool release_held(agent::Agent& agent, Done& done, bool is_waited_for) override;
  void forget_release() override;
  void abandon() noexcept override;

  std::shared_ptr<LockSlot> shared() { return std::static_pointer_cast<LockSlot>(shared_from_this()); }
  lock::RecordText text_of(const OwnerRecord& record) const;
  lock::AcquireSpec make_spec(lock::TimePoint deadline, bool try_once, std::vector<std::string> stack);
  // How this contender has come to its grant, for its span. Requires mutex().
  GrantCourse course_of(const lock::Grant& grant);
  // Without a request, if the lock lingers here.
  bool acquire_lingering();
  // False: it is granted, or about to be, or over. `by_wish`: of an operator.
  bool move(agent::Agent& agent, Priority priority, bool by_wish = false);
  // The release of this contender has ended, or is waited for no more.
  void release_ended(lock::ContenderId contender, const Release& release);

  const std::string node_name_;
  std::atomic<std::int64_t> token_{0};
  lock::ContenderId contender_ = 0;
  OwnerRecord record_;
  bool cancelled_ = false;  // before the core knew of the acquisition
};

}  // namespace forelock::client
