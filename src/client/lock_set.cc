#include "forelock/lock_set.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "client/clock.h"
#include "client/set_slot.h"

namespace forelock {

using lock::RefusalReason;

namespace {

void throw_unless_granted(const client::SetSlot& slot, const std::optional<client::SetSlot::Failure>& failure) {
  if (failure) std::rethrow_exception(slot.error_of(*failure, true));
}

// try_lock and its like: what is no failure is a plain no.
bool granted_or_throw(const client::SetSlot& slot, const std::optional<client::SetSlot::Failure>& failure) {
  if (!failure) return true;
  switch (failure->refusal.reason) {
    case RefusalReason::timed_out:
    case RefusalReason::unavailable:
    case RefusalReason::cancelled:
      return false;
    default:
      std::rethrow_exception(slot.error_of(*failure, false));
  }
}

}  // namespace

LockSet::LockSet(Client& client, std::string lock_info, const std::vector<std::string>& monitors, Priority priority,
                 LockOptions options)
    : slot_(std::make_shared<client::SetSlot>(client.core(), std::move(lock_info), monitors, priority,
                                              std::move(options))) {}

LockSet::~LockSet() {
  slot_->retire();
}

const std::vector<std::string>& LockSet::monitors() const noexcept {
  return slot_->monitors();
}
const std::string& LockSet::lock_info() const noexcept {
  return slot_->lock_info();
}
Priority LockSet::priority() const noexcept {
  return slot_->priority();
}

void LockSet::lock() {
  const auto acquisition = slot_->acquire(lock::never, false);
  throw_unless_granted(*slot_, slot_->wait(acquisition, lock::never));
}

bool LockSet::try_lock() {
  const auto deadline = client::deadline_after(slot_->core().settings().timeout(priority()));
  const auto acquisition = slot_->acquire(deadline, true);
  return granted_or_throw(*slot_, slot_->wait(acquisition, deadline));
}

bool LockSet::try_lock_for(std::chrono::milliseconds timeout) {
  if (timeout <= timeout.zero()) return try_lock();
  const auto deadline = client::deadline_after(timeout);
  const auto acquisition = slot_->acquire(deadline, false);
  return granted_or_throw(*slot_, slot_->wait(acquisition, deadline));
}

void LockSet::lock_with_timeout() {
  const auto deadline = client::deadline_after(slot_->core().settings().timeout(priority()));
  const auto acquisition = slot_->acquire(deadline, false);
  throw_unless_granted(*slot_, slot_->wait(acquisition, deadline));
}

void LockSet::unlock() noexcept {
  if (slot_->core().in_forked_child()) return;
  try {
    slot_->release_and_wait();
  } catch (const std::exception& problem) {
    slot_->core().log("warning", problem.what());
  }
}

void LockSet::unlock_or_throw() {
  slot_->release_and_wait();
}

void LockSet::unlock_async() noexcept {
  slot_->release_detached();
}

bool LockSet::step_aside(std::chrono::milliseconds timeout) {
  const auto deadline = client::deadline_after(timeout);
  const auto acquisition = slot_->acquisition();
  if (!slot_->step_aside(deadline)) {
    slot_->check_health();
    throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitors().front(), "the lock set is not held");
  }
  if (!granted_or_throw(*slot_, slot_->wait(acquisition, deadline))) return false;
  slot_->check_health();  // a member may have been removed since
  return true;
}

void LockSet::acquire(AcquireCallback callback) {
  acquire(slot_->core().settings().timeout(priority()), std::move(callback));
}

void LockSet::acquire(std::chrono::milliseconds timeout, AcquireCallback callback) {
  slot_->acquire(client::deadline_after(timeout), false, std::move(callback));
}

void LockSet::release(ReleaseCallback callback) {
  slot_->release(std::move(callback));
}

bool LockSet::cancel() {
  return slot_->cancel();
}

LockState LockSet::state() const noexcept {
  return slot_->state();
}
bool LockSet::owns_lock() const noexcept {
  return slot_->holds();
}
bool LockSet::healthy() const noexcept {
  return slot_->healthy();
}
void LockSet::check_health() const {
  slot_->check_health();
}
std::chrono::steady_clock::time_point LockSet::expires_at() const noexcept {
  return slot_->expires_at();
}
std::vector<MemberToken> LockSet::fencing_tokens() const {
  return slot_->tokens();
}

std::int64_t LockSet::fencing_token(const std::string& monitor) const {
  const std::vector<MemberToken> tokens = slot_->tokens();
  const auto found =
      std::find_if(tokens.begin(), tokens.end(), [&](const MemberToken& one) { return one.monitor == monitor; });
  if (found == tokens.end()) {
    throw RequestRejectedException(ErrorCode::invalid_argument, monitor, monitor + " is not a member of this lock set");
  }
  return found->token;
}

std::optional<std::string> LockSet::waits_for() const {
  return slot_->waits_for();
}
std::stop_token LockSet::stop_token() const {
  return slot_->stop_token();
}
void LockSet::alive(std::chrono::milliseconds expected) {
  slot_->alive(expected);
}
std::vector<WriteResult> LockSet::write_guarded(const std::vector<WriteOperation>& operations) {
  return slot_->write_guarded(operations);
}
void LockSet::on_danger(std::chrono::milliseconds margin, std::function<void()> callback) {
  slot_->on_danger(margin, std::move(callback));
}
void LockSet::on_lost(std::function<void(LossReason, const std::string&)> callback) {
  slot_->on_lost(std::move(callback));
}
void LockSet::on_contended(std::function<void(Priority, const std::string&)> callback) {
  slot_->on_contended(std::move(callback));
}

}  // namespace forelock
