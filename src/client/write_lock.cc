#include "forelock/write_lock.h"

#include <utility>

#include "client/lock_slot.h"

namespace forelock {

std::string_view name_of(LockState state) noexcept {
  switch (state) {
    case LockState::free:
      return "free";
    case LockState::waiting:
      return "waiting";
    case LockState::held:
      return "held";
    case LockState::suspect:
      return "suspect";
    case LockState::lost:
      return "lost";
  }
  return "unknown";
}

WriteLock::WriteLock(std::shared_ptr<client::LockSlot> slot) : slot_(std::move(slot)) {}
WriteLock::~WriteLock() {
  slot_->retire();
}

const std::string& WriteLock::monitor() const noexcept {
  return slot_->monitor();
}
const std::string& WriteLock::lock_info() const noexcept {
  return slot_->lock_info();
}
Priority WriteLock::priority() const noexcept {
  return slot_->priority();
}
bool WriteLock::owns_lock() const noexcept {
  return slot_->holds();
}
LockState WriteLock::state() const noexcept {
  return slot_->state();
}
bool WriteLock::healthy() const noexcept {
  return slot_->healthy();
}
void WriteLock::check_health() const {
  slot_->check_health();
}
std::int64_t WriteLock::fencing_token() const noexcept {
  return slot_->token();
}
std::chrono::steady_clock::time_point WriteLock::expires_at() const noexcept {
  return slot_->expires_at();
}
std::stop_token WriteLock::stop_token() const {
  return slot_->stop_token();
}
void WriteLock::on_lost(std::function<void(LossReason)> callback) {
  slot_->on_lost(std::move(callback));
}
void WriteLock::on_danger(std::chrono::milliseconds margin, std::function<void()> callback) {
  slot_->on_danger(margin, std::move(callback));
}
void WriteLock::on_queued(std::function<void(const QueuePosition&)> callback) {
  slot_->on_queued(std::move(callback));
}
void WriteLock::on_contended(std::function<void(Priority waiting)> callback) {
  slot_->on_contended(std::move(callback));
}
void WriteLock::alive(std::chrono::milliseconds expected) {
  slot_->alive(expected);
}
OwnerRecord WriteLock::owner() const {
  return slot_->owner();
}
std::vector<WriteResult> WriteLock::write_guarded(const std::vector<WriteOperation>& operations) {
  return slot_->write_guarded(operations);
}

}  // namespace forelock
