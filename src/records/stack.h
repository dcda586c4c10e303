// The place where lock() was called: addresses now, names when they are needed.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace forelock::records {

inline constexpr std::size_t max_stack_depth = 8;

// Return addresses, innermost first. Cheap to take and to copy.
struct CapturedStack {
  std::array<void*, max_stack_depth> frames{};
  std::size_t depth = 0;

  bool operator==(const CapturedStack&) const = default;
};

// The callers of the function that calls this, without that function itself and `skip` more. About 1 µs.
CapturedStack capture_stack(std::size_t skip = 0);

// One line a frame: "function+0x1f (module)", or "module+0x1234" for what has no exported name (addr2line -e module
// 0x1234 names it). Thread-safe; names are remembered, so the second time is cheap.
std::vector<std::string> symbolise(const CapturedStack& stack);

}  // namespace forelock::records
