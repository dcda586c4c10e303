#include "forward/forwarder_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "forelock/error.h"
#include "outbox/private_storage.h"

namespace forelock::forward {

namespace {

int open_beside(const std::filesystem::path& outbox) {
  const std::string path = outbox.string() + ".forwarder";
  try {
    return outbox::open_private(path, outbox, false);
  } catch (const std::system_error& problem) {
    throw Error(ErrorCode::outbox_unavailable, "", "cannot open " + path + ": " + problem.code().message(),
                "the outbox's folder must be writable for this process, and this file must belong to the same user as "
                "the outbox; see dlq.outbox.path");
  }
}

}  // namespace

ForwarderLock::ForwarderLock(const std::filesystem::path& outbox) : file_(open_beside(outbox)) {}

bool ForwarderLock::try_acquire() {
  if (held_) return true;
  held_ = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
  if (!held_ && errno != EWOULDBLOCK && errno != EINTR) {
    throw Error(ErrorCode::outbox_unavailable, "",
                "the outbox's forwarder cannot be found out: " + std::generic_category().message(errno),
                "the file system of dlq.outbox.path must know flock()");
  }
  return held_;
}

}  // namespace forelock::forward
