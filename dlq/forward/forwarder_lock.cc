#include "forward/forwarder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "forelock/error.h"

namespace forelock::forward {

ForwarderLock::ForwarderLock(const std::filesystem::path& outbox) {
  const std::string path = outbox.string() + ".forwarder";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  // On a file system that became read-only a file that is there serves as well.
  if (file_ < 0) file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file_ < 0) {
    const std::string reason = std::generic_category().message(errno);
    throw Error(ErrorCode::outbox_unavailable, "", "cannot open " + path + ": " + reason,
                "the outbox's folder must be writable for this process; see dlq.outbox.path");
  }
}

ForwarderLock::~ForwarderLock() {
  ::close(file_);
}

bool ForwarderLock::try_acquire() {
  if (!held_) held_ = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
  return held_;
}

}  // namespace forelock::forward
