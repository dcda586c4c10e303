#include "zookeeper/namespace_prefix.h"

#include <algorithm>

namespace forelock::zookeeper {

void NamespacePrefix::make_absolute(std::string& path) const {
  if (chroot_.empty()) return;
  if (path == "/") {
    path = chroot_;
  } else {
    path.insert(0, chroot_);
  }
}

std::string NamespacePrefix::relative(std::string_view absolute) const {
  if (!absolute.starts_with(chroot_)) return std::string(absolute);
  const std::string_view rest = absolute.substr(chroot_.size());
  return rest.empty() ? "/" : std::string(rest);
}

std::vector<std::string> NamespacePrefix::components() const {
  std::vector<std::string> nodes;
  for (std::size_t slash = chroot_.find('/', 1); !chroot_.empty(); slash = chroot_.find('/', slash + 1)) {
    nodes.push_back(chroot_.substr(0, slash));
    if (slash == std::string::npos) break;
  }
  return nodes;
}

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
