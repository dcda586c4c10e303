// Numbers of things in sentences: "1 node", "2 nodes".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forelock::base {

// `several`: what it is called if that is not `one` with an s.
inline std::string counted(std::uint64_t count, std::string_view one, std::string_view several = {}) {
  std::string text = std::to_string(count) + ' ';
  if (count == 1 || several.empty()) text += one;
  if (count != 1) text += several.empty() ? "s" : several;
  return text;
}

}  // namespace forelock::base
