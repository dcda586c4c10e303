#include "cli/output/screen.h"

#include "records/wall_time.h"

namespace forelock::cli {

std::string redrawn(std::string_view text) {
  std::string screen = "\x1b[H" + records::format_wall_time(records::wall_time_now()) + "\x1b[K\n\x1b[K\n";
  for (const char c : text) screen += c == '\n' ? "\x1b[K\n" : std::string(1, c);
  return screen + "\x1b[J";
}

}  // namespace forelock::cli
