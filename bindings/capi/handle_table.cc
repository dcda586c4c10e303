#include "capi/handle_table.h"

#include <pthread.h>

#include <algorithm>

namespace forelock::capi {
namespace {

// A slot's state: generation << 32 | open << 31 | uses.
constexpr std::uint64_t open_bit = std::uint64_t{1} << 31;
constexpr std::uint64_t uses_mask = open_bit - 1;

constexpr std::uint32_t generation_of_state(std::uint64_t state) {
  return static_cast<std::uint32_t>(state >> 32);
}
constexpr std::uint32_t generation_of(Handle handle) {
  return static_cast<std::uint32_t>(handle >> 24);
}
constexpr auto kind_of(Handle handle) {
  return static_cast<Kind>(handle >> 56);
}
constexpr bool is_open_for(std::uint64_t state, Handle handle) {
  return (state & open_bit) != 0 && generation_of_state(state) == generation_of(handle);
}

}  // namespace

HandleTable::HandleTable(std::size_t limit) : limit_(std::min(limit, max_chunks * chunk_size)) {}

HandleTable::~HandleTable() {
  for (auto& place : chunks_) {
    Chunk* chunk = place.load();
    if (chunk == nullptr) continue;
    for (Slot& slot : *chunk) delete slot.object.load();
    delete chunk;
  }
}

HandleTable& HandleTable::instance() {
  static auto* const table = [] {
    auto* const made = new HandleTable();
    // A forked child may use handles at once: it must not find a mutex locked by a thread that it does not have.
    const auto unlock = [] { instance().mutex_.unlock(); };
    pthread_atfork([] { instance().mutex_.lock(); }, unlock, unlock);
    return made;
  }();
  return *table;
}

// Made when the library is loaded: a child that is forked while another thread made it would wait for that for ever.
[[maybe_unused]] static const HandleTable& made_at_load = HandleTable::instance();

Handle HandleTable::add(std::unique_ptr<Object> object) {
  std::uint32_t index = 0;
  {
    const std::lock_guard guard(mutex_);
    if (size_ == limit_) return 0;
    if (free_.empty()) {
      if (made_ % chunk_size == 0) {
        // Room for all free slots there can be, so that giving one back needs no memory.
        free_.reserve(made_ + chunk_size);
        chunks_[made_ / chunk_size].store(new Chunk(), std::memory_order_release);
      }
      index = static_cast<std::uint32_t>(made_++);
    } else {
      index = free_.back();
      free_.pop_back();
    }
    ++size_;
  }
  Slot& slot = *slot_of(index);
  slot.index = index;
  const Kind kind = object->kind();
  slot.object.store(object.release(), std::memory_order_relaxed);
  const std::uint32_t generation = generation_of_state(slot.state.load(std::memory_order_relaxed)) + 1;
  slot.state.store(std::uint64_t{generation} << 32 | open_bit | 1, std::memory_order_release);
  return Handle{static_cast<unsigned char>(kind)} << 56 | Handle{generation} << 24 | index;
}

HandleTable::AnyUse HandleTable::find(Handle handle) {
  Slot* slot = slot_of(handle);
  if (slot == nullptr) return {};
  std::uint64_t state = slot->state.load(std::memory_order_relaxed);
  do {
    if (!is_open_for(state, handle)) return {};
  } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acquire, std::memory_order_relaxed));
  AnyUse use(this, slot, slot->object.load(std::memory_order_relaxed));
  if (use.object().kind() != kind_of(handle)) return {};
  return use;
}

HandleTable::AnyUse HandleTable::remove(Handle handle) {
  const AnyUse use = find(handle);
  if (!use) return {};
  Slot* slot = slot_of(handle);
  std::uint64_t state = slot->state.load(std::memory_order_relaxed);
  do {
    if (!is_open_for(state, handle)) return {};
  } while (!slot->state.compare_exchange_weak(state, state & ~open_bit, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
  return {this, slot, &use.object()};  // the table's own use
}

void HandleTable::end_use(Slot& slot) {
  const std::uint64_t before = slot.state.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & open_bit) == 0 && (before & uses_mask) == 1) destroy(slot);
}

void HandleTable::destroy(Slot& slot) {
  Object* object = slot.object.exchange(nullptr, std::memory_order_relaxed);
  delete object;
  const std::lock_guard guard(mutex_);
  --size_;
  free_.push_back(slot.index);
}

std::size_t HandleTable::size() const {
  const std::lock_guard guard(mutex_);
  return size_;
}

}  // namespace forelock::capi
