#include "kafka/pending_deliveries.h"

#include <utility>

namespace forelock::kafka {
namespace {

PendingDeliveries::Id id_of(std::uint32_t slot, std::uint32_t uses) {
  return PendingDeliveries::Id{uses} << 32 | slot;
}

}  // namespace

PendingDeliveries::Id PendingDeliveries::add(Producer::Callback callback) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
    free_.reserve(slots_.capacity());  // so that giving a slot back cannot fail
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.callback = std::move(callback);
  slot.taken = true;
  ++under_way_;
  return id_of(index, slot.uses);
}

void PendingDeliveries::withdraw(Id id) {
  if (take(id)) done();
}

void PendingDeliveries::finish(Id id, const Delivery& delivery) {
  const std::optional<Producer::Callback> callback = take(id);
  if (!callback) return;
  try {
    if (*callback) (*callback)(delivery);
  } catch (...) {  // it would go through the C library's thread
  }
  done();
}

void PendingDeliveries::finish_all(const Delivery& delivery) {
  std::vector<Id> ids;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t index = 0; index < slots_.size(); ++index) {
      if (slots_[index].taken) ids.push_back(id_of(index, slots_[index].uses));
    }
  }
  for (const Id id : ids) finish(id, delivery);
}

bool PendingDeliveries::wait_until_none(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return none_.wait_for(lock, timeout, [this] { return under_way_ == 0; });
}

std::optional<Producer::Callback> PendingDeliveries::take(Id id) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= slots_.size() || !slots_[index].taken || id_of(index, slots_[index].uses) != id) return std::nullopt;
  Slot& slot = slots_[index];
  slot.taken = false;
  ++slot.uses;
  free_.push_back(index);
  return std::exchange(slot.callback, nullptr);
}

void PendingDeliveries::done() {
  if (--under_way_ > 0) return;
  const std::lock_guard lock(mutex_);  // who waits has seen the old number and sleeps, or will see the new one
  none_.notify_all();
}

}  // namespace forelock::kafka
