// A HandleTable gives objects numbers under which programs may ask for them at any time, also when they are gone.
//
// A handle is kind (8 bits), generation of its slot (32) and index of its slot (24). Looking one up takes no mutex: the
// slot's state, generation, "open" and the number of uses in one word, is changed by compare-and-swap. The table itself
// counts as one use; the last use that ends after the handle was removed destroys the object. A removed slot's state
// admits no new use until its next generation, so exactly one thread sees the last use end.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "capi/object.h"

namespace forelock::capi {

using Handle = std::uint64_t;

class HandleTable {
  struct Slot {
    std::atomic<std::uint64_t> state{0};
    std::atomic<Object*> object{nullptr};
    std::uint32_t index = 0;
  };

 public:
  static constexpr std::size_t default_limit = 1u << 22;

  // At most `limit` objects at a time.
  explicit HandleTable(std::size_t limit = default_limit);
  // No handle may be in use.
  ~HandleTable();
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  // The one of the process. It is never destroyed: threads may still call while the process ends.
  static HandleTable& instance();

  // A use of an object, which lives as long. Empty if there was none.
  class AnyUse {
   public:
    AnyUse() = default;
    AnyUse(HandleTable* table, Slot* slot, Object* object) : table_(table), slot_(slot), object_(object) {}
    AnyUse(AnyUse&& other) noexcept
        : table_(other.table_), slot_(std::exchange(other.slot_, nullptr)), object_(other.object_) {}
    AnyUse& operator=(AnyUse&&) = delete;
    ~AnyUse() {
      if (slot_ != nullptr) table_->end_use(*slot_);
    }
    explicit operator bool() const { return slot_ != nullptr; }
    Object& object() const { return *object_; }

   private:
    HandleTable* table_ = nullptr;
    Slot* slot_ = nullptr;
    Object* object_ = nullptr;
  };

  // \returns 0 if the table is full. \throws std::bad_alloc.
  Handle add(std::unique_ptr<Object> object);
  // Thread-safe, lock-free, and never waits.
  AnyUse find(Handle handle);
  // No later find() finds it. \returns the object, for its last words; empty for all but one caller.
  AnyUse remove(Handle handle);
  // Objects that have not been destroyed.
  std::size_t size() const;

 private:
  static constexpr std::size_t chunk_size = 4096;
  static constexpr std::size_t max_chunks = (1u << 24) / chunk_size;
  using Chunk = std::array<Slot, chunk_size>;

  Slot* slot_of(Handle handle) const {
    const std::size_t index = handle & 0xFFFFFF;
    Chunk* chunk = chunks_[index / chunk_size].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[index % chunk_size];
  }
  void end_use(Slot& slot);
  void destroy(Slot& slot);

  const std::size_t limit_;
  std::array<std::atomic<Chunk*>, max_chunks> chunks_{};
  mutable std::mutex mutex_;
  std::vector<std::uint32_t> free_;
  std::size_t made_ = 0;
  std::size_t size_ = 0;
};

}  // namespace forelock::capi
