#include "zookeeper/namespace_prefix.h"

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

}  // namespace forelock::zookeeper
