#include "forelock/write_lock.h"

#include <utility>

#include "client/lock_slot.h"
#include "client/moved_from.h"
#include "client/set_slot.h"
#include "forelock/lock_set.h"

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
WriteLock::WriteLock(WriteLock&& other) noexcept = default;
WriteLock& WriteLock::operator=(WriteLock&& other) noexcept {
  if (this == &other) return *this;
  if (slot_) slot_->retire();
  slot_ = std::move(other.slot_);
  return *this;
}
WriteLock::~WriteLock() {
  if (slot_) slot_->retire();
}

client::LockSlot& WriteLock::slot() const {
  return client::slot_in(slot_);
}

const std::string& WriteLock::monitor() const noexcept {
  return slot_ ? slot_->monitor() : client::no_name();
}
const std::string& WriteLock::lock_info() const noexcept {
  return slot_ ? slot_->lock_info() : client::no_name();
}
Priority WriteLock::priority() const noexcept {
  return slot_ ? slot_->priority() : Priority::foreground;
}
bool WriteLock::set_priority(Priority priority) {
  return slot().set_priority(priority);
}
void WriteLock::inside(const WriteLock& outer) {
  slot().put_inside(outer.slot());
}
void WriteLock::inside(const LockSet& outer) {
  slot().put_inside(outer.slot());
}
bool WriteLock::owns_lock() const noexcept {
  return slot_ && slot_->holds();
}
LockState WriteLock::state() const noexcept {
  return slot_ ? slot_->state() : LockState::free;
}
bool WriteLock::healthy() const noexcept {
  return slot_ && slot_->healthy();
}
std::int64_t WriteLock::fencing_token() const noexcept {
  return slot_ ? slot_->token() : 0;
}
std::chrono::steady_clock::time_point WriteLock::expires_at() const noexcept {
  return slot_ ? slot_->expires_at() : std::chrono::steady_clock::time_point{};
}
void WriteLock::check_health() const {
  slot().check_health();
}
std::stop_token WriteLock::stop_token() const {
  return slot().stop_token();
}
void WriteLock::on_lost(std::function<void(LossReason)> callback) {
  if (!callback) return slot().on_lost({});
  slot().on_lost([told = std::move(callback)](LossReason reason, const std::string&) { told(reason); });
}
void WriteLock::on_danger(std::chrono::milliseconds margin, std::function<void()> callback) {
  slot().on_danger(margin, std::move(callback));
}
void WriteLock::on_queued(std::function<void(const QueuePosition&)> callback) {
  if (!callback) return slot().on_queued({});
  slot().on_queued([told = std::move(callback)](const QueuePosition& position, const std::string&) { told(position); });
}
void WriteLock::on_contended(std::function<void(Priority waiting)> callback) {
  if (!callback) return slot().on_contended({});
  slot().on_contended([told = std::move(callback)](Priority waiting, const std::string&) { told(waiting); });
}
void WriteLock::alive(std::chrono::milliseconds expected) {
  slot().alive(expected);
}
OwnerRecord WriteLock::owner() const {
  return slot().owner();
}
std::string WriteLock::traceparent() const {
  return slot().traceparent();
}
std::vector<WriteResult> WriteLock::write_guarded(const std::vector<WriteOperation>& operations) {
  return slot().write_guarded(operations);
}

}  // namespace forelock
