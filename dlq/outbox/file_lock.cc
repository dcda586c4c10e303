#include "outbox/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "outbox/private_storage.h"

namespace forelock::outbox {

FileLock::FileLock(const std::filesystem::path& path, const std::filesystem::path& neighbour)
    : file_(open_private(path, neighbour, false)) {}

FileLock::FileLock(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) throw std::system_error(errno, std::system_category(), "opening " + path.string());
}

FileLock::~FileLock() {
  ::close(file_);  // releases it
}

bool FileLock::lock(int operation, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::chrono::microseconds pause{100};
  while (::flock(file_, operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) throw std::system_error(errno, std::system_category(), "flock");
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(10));
  }
  return true;
}

bool FileLock::share(std::chrono::milliseconds patience) {
  return lock(LOCK_SH, patience);
}

bool FileLock::own(std::chrono::milliseconds patience) {
  return lock(LOCK_EX, patience);
}

void FileLock::release() noexcept {
  ::flock(file_, LOCK_UN);
}

FileLock::Note FileLock::note() const {
  char byte = 0;
  if (::pread(file_, &byte, 1, 0) != 1) return Note::none;
  return byte == static_cast<char>(Note::damaged) ? Note::damaged : Note::made;
}

bool FileLock::set_note(Note note) noexcept {
  const char byte = static_cast<char>(note);
  return ::pwrite(file_, &byte, 1, 0) == 1 && ::fdatasync(file_) == 0;
}

}  // namespace forelock::outbox
