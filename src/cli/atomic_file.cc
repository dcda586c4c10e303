#include "cli/atomic_file.h"

#include <fcntl.h>
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

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  file_ = Descriptor(mkostemp(temporary_.data(), O_CLOEXEC));  // mode 0600
  if (file_.get() < 0) {
    temporary_.clear();
    fail("cannot be made");
  }
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= enough_to_write) flush();
}

void AtomicFile::commit() {
  flush();
  if (fsync(file_.get()) != 0) fail("cannot be written");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be put in place");
  temporary_.clear();
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const Descriptor directory(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || fsync(directory.get()) != 0) fail("may not be on the disk yet");
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

}  // namespace forelock::cli
