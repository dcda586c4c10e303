// A name of any length as 16 bytes, to remember very many of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace forelock::drain {

// Two different names share a key with a probability that does not matter (2^-84 among four million), unless an
// adversary looks for such names: who may write into the queue is trusted not to.
struct HashedKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const HashedKey&) const = default;
};

struct HashOfKey {
  std::size_t operator()(HashedKey key) const { return static_cast<std::size_t>(key.low); }
};

// FNV-1a with 128 bits (RFC draft-eastlake-fnv). The same in every process and version.
HashedKey hash_key(std::string_view name);

}  // namespace forelock::drain
