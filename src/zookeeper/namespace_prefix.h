// Paths of nodes: whether they are valid, and the chroot, which part of the tree is the session's namespace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forelock::zookeeper {

// We translate the paths ourselves instead of giving the chroot to the C client: the chroot's own nodes can then be
// created on the same session, and a failed zoo_amulti under a client-side chroot frees memory twice.
// Immutable after construction, thus thread-safe.
class NamespacePrefix {
 public:
  // An absolute valid path, or empty.
  explicit NamespacePrefix(std::string chroot) : chroot_(std::move(chroot)) {}

  bool empty() const { return chroot_.empty(); }
  const std::string& chroot() const { return chroot_; }

  // Turns a path of the namespace into one of the server.
  void make_absolute(std::string& path) const;
  // The reverse, of a path that the server gave.
  std::string relative(std::string_view absolute) const;
  // Every node of the chroot, topmost first: "/a", "/a/b".
  std::vector<std::string> components() const;

 private:
  const std::string chroot_;
};

// Whether the C client takes the path: absolute, no empty, "." or ".." part, no control character. The server refuses
// more (some Unicode ranges) and says so. A path to which the server appends a number may end in a slash.
bool is_valid_path(std::string_view path, bool sequential = false);

}  // namespace forelock::zookeeper
