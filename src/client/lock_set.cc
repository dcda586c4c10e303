#include "forelock/lock_set.h"

#include <algorithm>
#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"
#include "client/moved_from.h"
#include "client/set_slot.h"

namespace forelock {

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
  slot().put_inside(outer.slot());
}
void LockSet::inside(const LockSet& outer) {
  slot().put_inside(outer.slot());
}

void LockSet::lock() {
  client::SetSlot& slot = this->slot();
  slot.wait_or_throw(slot.acquire(lock::never, false), lock::never);
}

bool LockSet::try_lock() {
  client::SetSlot& slot = this->slot();
  const auto deadline = slot.deadline_of_try();
  return slot.wait_and_see(slot.acquire(deadline, true), deadline);
}

bool LockSet::try_lock_until_steady(std::chrono::steady_clock::time_point steady) {
  client::SetSlot& slot = this->slot();
  const auto deadline = client::from_steady(steady);
  return slot.wait_and_see(slot.acquire(deadline, false), deadline);
}

void LockSet::lock_with_timeout() {
  client::SetSlot& slot = this->slot();
  const auto deadline = slot.configured_deadline();
  slot.wait_or_throw(slot.acquire(deadline, false), deadline);
}

void LockSet::unlock() noexcept {
  if (slot_) slot_->release_quietly();
}

void LockSet::unlock_or_throw() {
  slot().release_and_wait();
}

void LockSet::unlock_async() noexcept {
  if (slot_) slot_->release_detached();
}

bool LockSet::step_aside(std::chrono::milliseconds timeout) {
  return slot().step_aside(timeout);
}

void LockSet::acquire(AcquireCallback callback) {
  slot().acquire(slot().configured_deadline(), false, std::move(callback));
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

std::string LockSet::held_header() const {
  return slot().held_header();
}

OwnerRecord LockSet::owner() const {
  return slot().owner();
}
std::string LockSet::traceparent() const {
  return slot().traceparent();
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
