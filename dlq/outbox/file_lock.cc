#include "outbox/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "outbox/private_storage.h"

namespace forelock::outbox {

namespace {

int open_to_look(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::system_category(), "opening " + path.string());
  return file;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, const std::filesystem::path& neighbour)
    : file_(open_private(path, neighbour, false)) {}

FileLock::FileLock(const std::filesystem::path& path) : file_(open_to_look(path)) {}

bool FileLock::own(std::chrono::milliseconds patience) {
  // Who writes all the time is without the lock for moments alone: one who looks seldom would hardly ever meet one.
  constexpr std::chrono::microseconds longest{250};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::chrono::microseconds pause{100};
  while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) throw std::system_error(errno, std::system_category(), "flock");
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, longest);
  }
  return true;
}

void FileLock::release() noexcept {
  file_.unlock();
}

bool FileLock::is_at(const std::filesystem::path& path) const noexcept {
  struct stat there {};
  struct stat ours {};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(file_.get(), &ours) == 0 && there.st_dev == ours.st_dev &&
         there.st_ino == ours.st_ino;
}

FileLock::Note FileLock::note() const {
  char byte = 0;
  if (::pread(file_.get(), &byte, 1, 0) != 1) return Note::none;
  return byte == static_cast<char>(Note::damaged) ? Note::damaged : Note::made;
}

bool FileLock::set_note(Note note) noexcept {
  const char byte = static_cast<char>(note);
  return ::pwrite(file_.get(), &byte, 1, 0) == 1 && ::fdatasync(file_.get()) == 0;
}

}  // namespace forelock::outbox
