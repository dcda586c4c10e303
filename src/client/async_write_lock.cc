#include "forelock/async_write_lock.h"

#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"

namespace forelock {

AsyncWriteLock::AsyncWriteLock(Client& client, std::string lock_info, std::string monitor, Priority priority,
                               LockOptions options)
    : WriteLock(std::make_shared<client::LockSlot>(client.core(), std::move(lock_info), std::move(monitor), priority,
                                                   std::move(options))) {}

AsyncWriteLock::~AsyncWriteLock() = default;
AsyncWriteLock::AsyncWriteLock(AsyncWriteLock&& other) noexcept = default;
AsyncWriteLock& AsyncWriteLock::operator=(AsyncWriteLock&& other) noexcept = default;

void AsyncWriteLock::acquire(AcquireCallback callback) {
  slot().acquire(slot().configured_deadline(), false, std::move(callback));
}

void AsyncWriteLock::acquire(std::chrono::milliseconds timeout, AcquireCallback callback) {
  slot().acquire(client::deadline_after(timeout), false, std::move(callback));
}

bool AsyncWriteLock::cancel() {
  return slot().cancel();
}

void AsyncWriteLock::release(ReleaseCallback callback) {
  slot().release(std::move(callback));
}

}  // namespace forelock
