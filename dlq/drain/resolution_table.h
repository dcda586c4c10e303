// The states of very many letters in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drain/hashed_key.h"
#include "drain/resolution_state.h"

namespace forelock::drain {

// A hash table with open addressing: 24 bytes a slot, one and a third to three slots a letter. Not thread-safe.
class ResolutionTable {
 public:
  // At the limit it has 192 MB.
  static constexpr std::size_t default_limit = 4 * 1024 * 1024;

  explicit ResolutionTable(std::size_t limit = default_limit) : limit_(limit) {}

  // What was put last, or an open state of generation 0.
  ResolutionState state_of(HashedKey key) const;
  // \returns false, and nothing has changed, when it is full and does not know the key.
  bool put(HashedKey key, ResolutionState state);

  // Whether no letter with this key and this or a later generation was seen before; marks it as seen. When it is full,
  // a key that it does not know is always new.
  bool first_sight(HashedKey key, std::uint32_t replay_count);

  bool contains(HashedKey key) const;
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    HashedKey key;  // all zero: free
    ResolutionState state;
    std::uint16_t seen = 0;  // the highest generation that was seen, plus one
  };

  const Slot* find(HashedKey key) const;
  // nullptr when it is full.
  Slot* find_or_add(HashedKey key);
  std::size_t place_of(HashedKey key) const;
  void grow();

  std::size_t limit_;
  std::size_t size_ = 0;
  std::vector<Slot> slots_;  // a power of two, or none
};

}  // namespace forelock::drain
