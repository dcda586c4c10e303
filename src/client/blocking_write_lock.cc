#include "forelock/blocking_write_lock.h"

#include <exception>
#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"

namespace forelock {

using lock::RefusalReason;

namespace {

void throw_unless_granted(const client::LockSlot& slot, const std::optional<lock::Refusal>& refusal) {
  if (refusal) std::rethrow_exception(slot.error_of(*refusal, true));
}

// try_lock and its like: what is no failure is a plain no.
bool granted_or_throw(const client::LockSlot& slot, const std::optional<lock::Refusal>& refusal) {
  if (!refusal) return true;
  switch (refusal->reason) {
    case RefusalReason::timed_out:
    case RefusalReason::unavailable:
    case RefusalReason::not_admitted:
    case RefusalReason::cancelled:
      return false;
    default:
      std::rethrow_exception(slot.error_of(*refusal, false));
  }
}

}  // namespace

BlockingWriteLock::BlockingWriteLock(Client& client, std::string lock_info, std::string monitor, Priority priority,
                                     LockOptions options)
    : WriteLock(std::make_shared<client::LockSlot>(client.core(), std::move(lock_info), std::move(monitor), priority,
                                                   std::move(options))) {}

BlockingWriteLock::~BlockingWriteLock() = default;
BlockingWriteLock::BlockingWriteLock(BlockingWriteLock&& other) noexcept = default;
BlockingWriteLock& BlockingWriteLock::operator=(BlockingWriteLock&& other) noexcept = default;

void BlockingWriteLock::lock() {
  client::LockSlot& slot = this->slot();
  const auto acquisition = slot.acquire(lock::never, false);
  throw_unless_granted(slot, slot.wait(acquisition, lock::never));
}

bool BlockingWriteLock::try_lock() {
  client::LockSlot& slot = this->slot();
  // Waits for the servers' answer alone, which takes a moment even where no time is configured for waiting.
  const auto configured = slot.core().settings().timeout(priority());
  const auto deadline = client::deadline_after(configured.count() > 0 ? configured : std::chrono::seconds(1));
  const auto acquisition = slot.acquire(deadline, true);
  return granted_or_throw(slot, slot.wait(acquisition, deadline));
}

bool BlockingWriteLock::try_lock_until_steady(std::chrono::steady_clock::time_point until) {
  client::LockSlot& slot = this->slot();
  const auto deadline = client::from_steady(until);
  const auto acquisition = slot.acquire(deadline, false);
  return granted_or_throw(slot, slot.wait(acquisition, deadline));
}

void BlockingWriteLock::lock_with_timeout() {
  client::LockSlot& slot = this->slot();
  const auto deadline = client::deadline_after(slot.core().settings().timeout(priority()));
  const auto acquisition = slot.acquire(deadline, false);
  throw_unless_granted(slot, slot.wait(acquisition, deadline));
}

bool BlockingWriteLock::cancel() {
  return slot().cancel();
}

void BlockingWriteLock::unlock() noexcept {
  if (!slot_ || slot_->core().in_forked_child()) return;
  try {
    slot_->release_and_wait();
  } catch (const std::exception& problem) {
    slot_->core().log("warning", problem.what());
  }
}

void BlockingWriteLock::unlock_or_throw() {
  slot().release_and_wait();
}

void BlockingWriteLock::unlock_async() noexcept {
  if (slot_) slot_->release_detached();
}

bool BlockingWriteLock::step_aside(std::chrono::milliseconds timeout) {
  client::LockSlot& slot = this->slot();
  const auto deadline = client::deadline_after(timeout);
  const auto acquisition = slot.acquisition();
  if (!slot.step_aside(deadline)) {
    slot.check_health();
    throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitor(), "the lock on " + monitor() + " is not held");
  }
  if (!granted_or_throw(slot, slot.wait(acquisition, deadline))) return false;
  slot.check_health();  // it may have been removed before it could be given back
  return true;
}

}  // namespace forelock
