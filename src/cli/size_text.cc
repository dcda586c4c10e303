#include "cli/size_text.h"

#include <array>

namespace forelock::cli {

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t step = 1024;
  if (bytes < step) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  std::uint64_t tenths = bytes * 10 / step;  // a store is far smaller than 2^60 bytes
  for (; tenths >= step * 10 && unit + 1 < units.size(); ++unit) tenths /= step;
  const std::string fraction = tenths % 10 == 0 || tenths >= 1000 ? "" : '.' + std::to_string(tenths % 10);
  return std::to_string(tenths / 10) + fraction + ' ' + units[unit];
}

}  // namespace forelock::cli
