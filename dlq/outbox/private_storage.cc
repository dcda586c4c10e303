#include "outbox/private_storage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace forelock::outbox {
namespace {

constexpr mode_t owner_only = S_IRUSR | S_IWUSR;

[[noreturn]] void fail(int error, const char* doing, const std::filesystem::path& path) {
  throw std::system_error(error, std::system_category(), std::string(doing) + ' ' + path.string());
}

// Closes what could not be set up.
void set_up(int file, const std::filesystem::path& path, const std::filesystem::path& neighbour) {
  struct stat model {};
  bool good = ::fchmod(file, owner_only) == 0;  // the umask may have taken bits away
  if (good && ::geteuid() == 0 &&
      (::stat(neighbour.c_str(), &model) == 0 || ::stat(path.parent_path().c_str(), &model) == 0)) {
    good = ::fchown(file, model.st_uid, model.st_gid) == 0;
  }
  if (good) return;
  const int error = errno;
  ::close(file);
  fail(error, "setting up", path);
}

}  // namespace

int open_private(const std::filesystem::path& path, const std::filesystem::path& neighbour, bool must_be_new) {
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, owner_only);
  if (made >= 0) {
    set_up(made, path, neighbour);
    return made;
  }
  if (must_be_new || errno != EEXIST) {
    // Read-only file systems say so before they look whether the file is there.
    const int error = errno;
    const int file = !must_be_new && error == EROFS ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) fail(error, "making", path);
    return file;
  }
  int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 && errno == EACCES) file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(errno, "opening", path);
  return file;
}

void make_private_directory(const std::filesystem::path& path) {
  if (path.empty() || std::filesystem::is_directory(path)) return;
  make_private_directory(path.parent_path());
  if (::mkdir(path.c_str(), S_IRWXU) == 0) {
    sync_directory(path.parent_path());
  } else if (errno != EEXIST || !std::filesystem::is_directory(path)) {
    fail(errno == EEXIST ? ENOTDIR : errno, "making the directory", path);
  }
}

void sync_directory(const std::filesystem::path& path) {
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) fail(errno, "opening", path);
  const bool good = ::fsync(directory) == 0;
  const int error = errno;
  ::close(directory);
  if (!good) fail(error, "writing", path);
}

}  // namespace forelock::outbox
