// The states of very many letters in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drain/hashed_key.h"
#include "drain/resolution_state.h"

namespace forelock::drain {

// A hash table with open addressing: 32 bytes a slot, one and a third to three slots a letter. Not thread-safe.
class ResolutionTable {
 public:
  enum class Put {
    done,
    overruled,  // a drainer with a higher token has said something else: that counts
    full        // and the key is not known
  };

  // At the limit it has 256 MB.
  static constexpr std::size_t default_limit = 4 * 1024 * 1024;

  explicit ResolutionTable(std::size_t limit = default_limit) : limit_(limit) {}

  // What counts: the last that a drainer with the highest token has put. An open state if there is nothing.
  ResolutionState state_of(HashedKey key) const;
  // Changes nothing unless it returns `done`.
  Put put(HashedKey key, ResolutionState state);
  // Back to an open state, regardless of the writer of the one before. \returns `done` or `full`.
  Put reset(HashedKey key);

  // Whether no letter with this key was seen before; marks it as seen. When it is full, a key that it does not know is
  // always new.
  bool first_sight(HashedKey key);

  bool contains(HashedKey key) const;
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    HashedKey key;  // all zero: free
    ResolutionState state;
    bool seen = false;
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
