#include "cli/process/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/exit_code.h"
#include "cli/failure.h"

namespace forelock::cli {
namespace {

constexpr std::size_t enough_to_write = 64 * 1024;

// Where links lead to, also when nothing is there yet.
std::string followed(std::filesystem::path path) {
  constexpr int most_links = 40;  // as the kernel
  std::error_code none;
  for (int i = 0; i < most_links && std::filesystem::is_symlink(path, none); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, none);
    if (none) break;
    path = path.parent_path() / target;
  }
  return path.string();
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, bool replace) : path_(path), replace_(replace) {
  struct stat status {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail("cannot be made");
  ordinary_ = !exists || S_ISREG(status.st_mode);
  if (exists && ordinary_ && !replace_) fail_existing();
  if (ordinary_) {
    path_ = followed(path_);
    open_unnamed();
    return;
  }
  // By the name as it was given: a link to an open pipe, as in /dev/fd, leads to no name.
  file_ = Descriptor(open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (file_.get() < 0) fail("cannot be opened");
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::open_unnamed() {
  file_ = Descriptor(open(folder_of(path_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file_.get() >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
    if (file_.get() < 0) fail("cannot be made");
    return;
  }
  temporary_ = path_ + ".XXXXXX";
  file_ = Descriptor(mkostemp(temporary_.data(), O_CLOEXEC));  // mode 0600
  if (file_.get() >= 0) return;
  temporary_.clear();
  fail("cannot be made");
}

void AtomicFile::write(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= enough_to_write) flush();
}

void AtomicFile::commit() {
  flush();
  if (!ordinary_) return;
  if (fsync(file_.get()) != 0) fail("cannot be written");
  give_name();
  const Descriptor directory(open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || fsync(directory.get()) != 0) fail("may not be on the disk yet");
}

void AtomicFile::give_name() {
  const std::string unnamed = "/proc/self/fd/" + std::to_string(file_.get());
  const auto link_as = [&](const std::string& name) {
    return temporary_.empty() ? linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW)
                              : link(temporary_.c_str(), name.c_str());
  };
  if (!replace_) {
    // Unlike a move, this notices a file that has come meanwhile.
    if (link_as(path_) == 0) return;
    if (errno == EEXIST) fail_existing();
    fail("cannot be put in place");
  }
  if (temporary_.empty()) {
    std::string name = path_ + '.' + std::to_string(getpid()) + ".new";
    if (link_as(name) != 0) fail("cannot be put in place");
    temporary_ = std::move(name);
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be put in place");
  temporary_.clear();
}

void AtomicFile::flush() {
  std::string_view rest = waiting_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  waiting_.clear();
}

void AtomicFile::fail(const char* what) const {
  throw FailureException(
      {exit_output, "output", path_ + ' ' + what + ": " + std::generic_category().message(errno), {}, {}, false, {}});
}

void AtomicFile::fail_existing() const {
  throw_usage(path_ + " exists already", "name another file, or replace it with --force");
}

}  // namespace forelock::cli
