#include "cli/log/rotating_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace forelock::cli {
namespace {

std::error_code last_error() {
  return {errno, std::generic_category()};
}

}  // namespace

RotatingFile::RotatingFile(std::string path, Limits limits) : path_(std::move(path)), limits_(limits) {
  if (const std::error_code error = open()) throw std::system_error(error);
}

std::error_code RotatingFile::open() {
  // Not blocking: a pipe without a reader must not stop us here, before it is known to be one.
  Descriptor file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  if (file.get() < 0) return last_error();
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return last_error();
  if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode)) return std::make_error_code(std::errc::not_supported);
  ordinary_ = S_ISREG(status.st_mode);
  file_ = std::move(file);
  torn_ = false;
  return {};
}

std::error_code RotatingFile::append(std::string_view lines) {
  if (file_.get() < 0 || moved()) {
    if (const std::error_code error = open()) return error;
  }
  struct stat status {};
  if (ordinary_ && fstat(file_.get(), &status) == 0 && status.st_size > 0 &&
      static_cast<std::size_t>(status.st_size) + lines.size() > limits_.bytes) {
    rotate();
  }
  if (torn_) {
    if (const std::error_code error = write_all("\n")) return error;
    torn_ = false;
  }
  return write_all(lines);
}

std::error_code RotatingFile::write_all(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      torn_ = torn_ || rest.size() < text.size();
      return last_error();
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

bool RotatingFile::moved() const {
  if (!ordinary_) return false;
  struct stat ours {};
  struct stat named {};
  if (fstat(file_.get(), &ours) != 0 || stat(path_.c_str(), &named) != 0) return true;
  return ours.st_dev != named.st_dev || ours.st_ino != named.st_ino;
}

// Those that write at the same time lock the full file; who gets the lock later finds it renamed.
void RotatingFile::rotate() {
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return;  // another process is renaming it; the next line sees that
  if (!moved()) {
    for (int number = limits_.files - 2; number >= 1; --number) {
      std::rename(numbered(number).c_str(), numbered(number + 1).c_str());
    }
    const bool renamed =
        limits_.files > 1 ? std::rename(path_.c_str(), numbered(1).c_str()) == 0 : unlink(path_.c_str()) == 0;
    // It cannot be renamed (the folder is not writable, say): what is bounded is the size.
    if (!renamed && ftruncate(file_.get(), 0) == 0) {
      flock(file_.get(), LOCK_UN);
      return;
    }
  }
  Descriptor full = std::move(file_);
  if (open()) file_ = std::move(full);  // rather too long a file than no line
}

}  // namespace forelock::cli
