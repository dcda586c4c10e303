#include "cli/dev/temporary_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace forelock::cli {
namespace {

constexpr const char* prefix = "forelock-dev-";
constexpr const char* lock_name = ".lock";

// Nothing if another process has it, or the file is not there.
Descriptor locked(const std::filesystem::path& directory, int flags) {
  Descriptor file(open((directory / lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  if (file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.close();
  return file;
}

bool is_own_directory(const std::filesystem::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

void remove_abandoned(const std::filesystem::path& parent) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(prefix) || !is_own_directory(entry.path())) continue;
    if (const Descriptor lock = locked(entry.path(), 0); lock.get() >= 0)
      std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  const std::filesystem::path parent = std::filesystem::temp_directory_path();
  remove_abandoned(parent);
  // Another process may take a directory for an abandoned one before it is locked.
  while (lock_.get() < 0) {
    std::string pattern = (parent / prefix).string() + "XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
    path_ = pattern;
    lock_ = locked(path_, O_CREAT);
    if (lock_.get() < 0 && errno != EWOULDBLOCK && errno != ENOENT)
      throw std::system_error(errno, std::generic_category(), pattern);
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace forelock::cli
