#include "zookeeper/descriptor_flags.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

namespace forelock::zookeeper {
namespace {

bool same_endpoint(const sockaddr* a, const sockaddr* b) {
  if (a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET) {
    const auto* left = reinterpret_cast<const sockaddr_in*>(a);
    const auto* right = reinterpret_cast<const sockaddr_in*>(b);
    return left->sin_port == right->sin_port && left->sin_addr.s_addr == right->sin_addr.s_addr;
  }
  if (a->sa_family == AF_INET6) {
    const auto* left = reinterpret_cast<const sockaddr_in6*>(a);
    const auto* right = reinterpret_cast<const sockaddr_in6*>(b);
    return left->sin6_port == right->sin6_port &&
           std::memcmp(&left->sin6_addr, &right->sin6_addr, sizeof(in6_addr)) == 0;
  }
  return false;
}

bool closes_on_exec(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFD);
  return flags < 0 || (flags & FD_CLOEXEC) != 0;
}

void set_close_on_exec(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFD);
  if (flags >= 0) fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC);
}

struct PipeEnd {
  int descriptor;
  ino_t pipe;
  bool writes;
};

}  // namespace

std::vector<int> open_descriptors() {
  std::vector<int> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), &closedir);
  if (!directory) return found;
  while (const dirent* entry = readdir(directory.get())) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (end != entry->d_name && number != dirfd(directory.get())) found.push_back(static_cast<int>(number));
  }
  std::sort(found.begin(), found.end());
  return found;
}

void protect_new_pipes(const std::vector<int>& before) {
  if (before.empty()) return;  // for want of a descriptor they could not be listed: nobody knows which ones are new
  const std::vector<int> after = open_descriptors();
  std::vector<int> fresh;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(fresh));
  std::vector<PipeEnd> ends;
  for (const int descriptor : fresh) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode) || closes_on_exec(descriptor)) continue;
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) == 0) continue;
    ends.push_back({descriptor, status.st_ino, (flags & O_ACCMODE) == O_WRONLY});
  }
  for (const PipeEnd& end : ends) {
    const bool paired = std::any_of(ends.begin(), ends.end(), [&end](const PipeEnd& other) {
      return other.pipe == end.pipe && other.writes != end.writes;
    });
    if (!paired) continue;
    set_close_on_exec(end.descriptor);
    if (end.writes) fcntl(end.descriptor, F_SETPIPE_SZ, 1024 * 1024);
  }
}

void protect_sockets_to(const sockaddr* peer) {
  for (const int descriptor : open_descriptors()) {
    sockaddr_storage address{};
    socklen_t length = sizeof(address);
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) continue;
    if (same_endpoint(reinterpret_cast<const sockaddr*>(&address), peer)) set_close_on_exec(descriptor);
  }
}

}  // namespace forelock::zookeeper
