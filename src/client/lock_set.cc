#include "forelock/lock_set.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"
#include "client/moved_from.h"
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
    case RefusalReason::not_admitted:
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
  if (slot_) slot_->retire();
}
LockSet::LockSet(LockSet&& other) noexcept = default;
LockSet& LockSet::operator=(LockSet&& other) noexcept {
  if (this == &other) return *this;
  if (slot_) slot_->retire();
  slot_ = std::move(other.slot_);
  return *this;
}

client::SetSlot& LockSet::slot() const {
  return client::slot_in(slot_);
}

const std::vector<std::string>& LockSet::monitors() const noexcept {
  static const std::vector<std::string> none;
  return slot_ ? slot_->monitors() : none;
}
const std::string& LockSet::lock_info() const noexcept {
  return slot_ ? slot_->lock_info() : client::no_name();
}
Priority LockSet::priority() const noexcept {
  return slot_ ? slot_->priority() : Priority::foreground;
}
bool LockSet::set_priority(Priority priority) {
  return slot().set_priority(priority);
}
void LockSet::inside(const WriteLock& outer) {
  client::put_inside(slot(), monitors().front(), outer.slot());
}
void LockSet::inside(const LockSet& outer) {
  client::put_inside(slot(), monitors().front(), outer.slot());
}

void LockSet::lock() {
  client::SetSlot& slot = this->slot();
  const auto acquisition = slot.acquire(lock::never, false);
  throw_unless_granted(slot, slot.wait(acquisition, lock::never));
}

bool LockSet::try_lock() {
  client::SetSlot& slot = this->slot();
  // Waits for the servers' answer alone, which takes a moment even where no time is configured for waiting.
  const auto configured = slot.core().settings().timeout(priority());
  const auto deadline = client::deadline_after(configured.count() > 0 ? configured : std::chrono::seconds(1));
  const auto acquisition = slot.acquire(deadline, true);
  return granted_or_throw(slot, slot.wait(acquisition, deadline));
}

bool LockSet::try_lock_until_steady(std::chrono::steady_clock::time_point steady) {
  client::SetSlot& slot = this->slot();
  const auto deadline = client::from_steady(steady);
  const auto acquisition = slot.acquire(deadline, false);
  return granted_or_throw(slot, slot.wait(acquisition, deadline));
}

void LockSet::lock_with_timeout() {
  client::SetSlot& slot = this->slot();
  const auto deadline = client::deadline_after(slot.core().settings().timeout(priority()));
  const auto acquisition = slot.acquire(deadline, false);
  throw_unless_granted(slot, slot.wait(acquisition, deadline));
}

void LockSet::unlock() noexcept {
  if (!slot_ || slot_->core().in_forked_child()) return;
  try {
    slot_->release_and_wait();
  } catch (const std::exception& problem) {
    slot_->core().log("warning", problem.what());
  }
}

void LockSet::unlock_or_throw() {
  slot().release_and_wait();
}

void LockSet::unlock_async() noexcept {
  if (slot_) slot_->release_detached();
}

bool LockSet::step_aside(std::chrono::milliseconds timeout) {
  client::SetSlot& slot = this->slot();
  const auto deadline = client::deadline_after(timeout);
  const auto acquisition = slot.acquisition();
  if (!slot.step_aside(deadline)) {
    slot.check_health();
    throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitors().front(), "the lock set is not held");
  }
  if (!granted_or_throw(slot, slot.wait(acquisition, deadline))) return false;
  slot.check_health();  // a member may have been removed since
  return true;
}

void LockSet::acquire(AcquireCallback callback) {
  acquire(slot().core().settings().timeout(priority()), std::move(callback));
}

void LockSet::acquire(std::chrono::milliseconds timeout, AcquireCallback callback) {
  slot().acquire(client::deadline_after(timeout), false, std::move(callback));
}

void LockSet::release(ReleaseCallback callback) {
  slot().release(std::move(callback));
}

bool LockSet::cancel() {
  return slot().cancel();
}

LockState LockSet::state() const noexcept {
  return slot_ ? slot_->state() : LockState::free;
}
bool LockSet::owns_lock() const noexcept {
  return slot_ && slot_->holds();
}
bool LockSet::healthy() const noexcept {
  return slot_ && slot_->healthy();
}
void LockSet::check_health() const {
  slot().check_health();
}
std::chrono::steady_clock::time_point LockSet::expires_at() const noexcept {
  return slot_ ? slot_->expires_at() : std::chrono::steady_clock::time_point{};
}
std::vector<MemberToken> LockSet::fencing_tokens() const {
  return slot().tokens();
}

std::int64_t LockSet::fencing_token(const std::string& monitor) const {
  const std::vector<MemberToken> tokens = slot().tokens();
  const auto found =
      std::find_if(tokens.begin(), tokens.end(), [&](const MemberToken& one) { return one.monitor == monitor; });
  if (found == tokens.end()) {
    throw RequestRejectedException(ErrorCode::invalid_argument, monitor, monitor + " is not a member of this lock set");
  }
  return found->token;
}

OwnerRecord LockSet::owner() const {
  return slot().owner();
}
std::optional<std::string> LockSet::waits_for() const {
  return slot().waits_for();
}
std::stop_token LockSet::stop_token() const {
  return slot().stop_token();
}
void LockSet::alive(std::chrono::milliseconds expected) {
  slot().alive(expected);
}
std::vector<WriteResult> LockSet::write_guarded(const std::vector<WriteOperation>& operations) {
  return slot().write_guarded(operations);
}
void LockSet::on_danger(std::chrono::milliseconds margin, std::function<void()> callback) {
  slot().on_danger(margin, std::move(callback));
}
void LockSet::on_lost(std::function<void(LossReason, const std::string&)> callback) {
  slot().on_lost(std::move(callback));
}
void LockSet::on_contended(std::function<void(Priority, const std::string&)> callback) {
  slot().on_contended(std::move(callback));
}
void LockSet::on_queued(std::function<void(const QueuePosition&, const std::string&)> callback) {
  slot().on_queued(std::move(callback));
}

}  // namespace forelock
