#include "drain/hashed_key.h"

namespace forelock::drain {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide wide(std::uint64_t high, std::uint64_t low) {
  return (static_cast<Wide>(high) << 64) | low;
}

constexpr Wide offset_basis = wide(0x6c62272e07bb0142, 0x62b821756295c58d);
constexpr Wide prime = wide(0x0000000001000000, 0x000000000000013b);

}  // namespace

HashedKey hash_key(std::string_view name) {
  Wide hash = offset_basis;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= prime;
  }
  return {static_cast<std::uint64_t>(hash >> 64), static_cast<std::uint64_t>(hash)};
}

}  // namespace forelock::drain
