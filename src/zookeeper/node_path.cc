#include "zookeeper/node_path.h"

#include <algorithm>

namespace forelock::zookeeper {

bool is_valid_path(std::string_view path, bool sequential) {
  if (path.empty() || path.front() != '/') return false;
  if (path.size() == 1) return true;
  if (std::any_of(path.begin(), path.end(), [](char c) { return c >= '\0' && c <= '\x1f'; })) return false;
  std::string_view rest = path.substr(1);
  while (true) {
    const auto slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    const bool last = slash == std::string_view::npos;
    // The last part of a sequential node gets its number appended, which makes any of these a proper name.
    if ((part.empty() || part == "." || part == "..") && !(last && sequential)) return false;
    if (last) return true;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace forelock::zookeeper
