#include "forelock/blocking_write_lock.h"

#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"

namespace forelock {

BlockingWriteLock::BlockingWriteLock(Client& client, std::string lock_info, std::string monitor, Priority priority,
                                     LockOptions options)
    : WriteLock(std::make_shared<client::LockSlot>(client.core(), std::move(lock_info), std::move(monitor), priority,
                                                   std::move(options))) {}

BlockingWriteLock::~BlockingWriteLock() = default;
BlockingWriteLock::BlockingWriteLock(BlockingWriteLock&& other) noexcept = default;
BlockingWriteLock& BlockingWriteLock::operator=(BlockingWriteLock&& other) noexcept = default;

void BlockingWriteLock::lock() {
  client::LockSlot& slot = this->slot();
  slot.wait_or_throw(slot.acquire(lock::never, false), lock::never);
}

bool BlockingWriteLock::try_lock() {
  client::LockSlot& slot = this->slot();
  const auto deadline = slot.deadline_of_try();
  return slot.wait_and_see(slot.acquire(deadline, true), deadline);
}

bool BlockingWriteLock::try_lock_until_steady(std::chrono::steady_clock::time_point until) {
  client::LockSlot& slot = this->slot();
  const auto deadline = client::from_steady(until);
  return slot.wait_and_see(slot.acquire(deadline, false), deadline);
}

void BlockingWriteLock::lock_with_timeout() {
  client::LockSlot& slot = this->slot();
  const auto deadline = slot.configured_deadline();
  slot.wait_or_throw(slot.acquire(deadline, false), deadline);
}

bool BlockingWriteLock::cancel() {
  return slot().cancel();
}

void BlockingWriteLock::unlock() noexcept {
  if (slot_) slot_->release_quietly();
}

void BlockingWriteLock::unlock_or_throw() {
  slot().release_and_wait();
}

void BlockingWriteLock::unlock_async() noexcept {
  if (slot_) slot_->release_detached();
}

bool BlockingWriteLock::step_aside(std::chrono::milliseconds timeout) {
  return slot().step_aside(timeout);
}

}  // namespace forelock
