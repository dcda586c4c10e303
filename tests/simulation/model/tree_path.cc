// Paths and Stats.
#include "model/tree.h"

namespace forelock::model {

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash);
}

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool valid_path(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  if (path.size() == 1) return true;
  if (path.back() == '/') return false;
  std::size_t begin = 1;
  while (begin <= path.size()) {
    auto end = path.find('/', begin);
    if (end == std::string_view::npos) end = path.size();
    const auto name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == "..") return false;
    for (const char c : name) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == 0x7f) return false;
    }
    begin = end + 1;
  }
  return true;
}

coordination::Stat stat_of(const Node& node) {
  coordination::Stat stat;
  stat.czxid = node.czxid;
  stat.mzxid = node.mzxid;
  stat.pzxid = node.pzxid;
  stat.version = node.version;
  stat.children = static_cast<std::int32_t>(node.children.size());
  // As ZooKeeper reports it, overflow included: the counter counts creations only.
  stat.cversion = static_cast<std::int32_t>(
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(node.counter) * 2 - node.children.size()));
  stat.ephemeral_owner = node.ephemeral_owner;
  stat.data_length = static_cast<std::int32_t>(node.data.size());
  return stat;
}

}  // namespace forelock::model
