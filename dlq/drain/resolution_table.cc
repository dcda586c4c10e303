#include "drain/resolution_table.h"

#include <utility>

namespace forelock::drain {
namespace {

constexpr std::size_t first_slots = 1024;

// A key of all zeros marks free slots.
HashedKey usable(HashedKey key) {
  return key == HashedKey{} ? HashedKey{0, 1} : key;
}

}  // namespace

ResolutionState ResolutionTable::state_of(HashedKey key) const {
  const Slot* slot = find(key);
  return slot ? slot->state : ResolutionState{};
}

ResolutionTable::Put ResolutionTable::put(HashedKey key, ResolutionState state) {
  Slot* slot = find_or_add(key);
  if (!slot) return Put::full;
  if (state.writer < slot->state.writer) return Put::overruled;
  slot->state = state;
  return Put::done;
}

ResolutionTable::Put ResolutionTable::reset(HashedKey key) {
  Slot* slot = find_or_add(key);
  if (!slot) return Put::full;
  slot->state = {};
  return Put::done;
}

bool ResolutionTable::first_sight(HashedKey key) {
  Slot* slot = find_or_add(key);
  return !slot || !std::exchange(slot->seen, true);
}

bool ResolutionTable::contains(HashedKey key) const {
  return find(key) != nullptr;
}

const ResolutionTable::Slot* ResolutionTable::find(HashedKey key) const {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[place_of(usable(key))];
  return slot.key == HashedKey{} ? nullptr : &slot;
}

ResolutionTable::Slot* ResolutionTable::find_or_add(HashedKey key) {
  key = usable(key);
  if (slots_.empty()) slots_.resize(first_slots);
  std::size_t place = place_of(key);
  if (slots_[place].key == key) return &slots_[place];
  if (size_ >= limit_) return nullptr;
  if ((size_ + 1) * 4 > slots_.size() * 3) {
    grow();
    place = place_of(key);
  }
  slots_[place].key = key;
  ++size_;
  return &slots_[place];
}

// Where the key is, or would be.
std::size_t ResolutionTable::place_of(HashedKey key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t place = (key.low ^ (key.high >> 32)) & mask;
  while (slots_[place].key != HashedKey{} && slots_[place].key != key) place = (place + 1) & mask;
  return place;
}

void ResolutionTable::grow() {
  std::vector<Slot> smaller = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  for (const Slot& slot : smaller) {
    if (slot.key != HashedKey{}) slots_[place_of(slot.key)] = slot;
  }
}

}  // namespace forelock::drain
