#include "cli/audit_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/process/descriptor.h"

namespace forelock::cli {
namespace {

[[noreturn]] void throw_unwritable(const std::string& path, const std::string& why) {
  throw FailureException({exit_output,
                          "audit",
                          "cannot write the audit file " + path + ": " + why,
                          "nothing is done that cannot be put on record; --audit-file names another one",
                          {},
                          false,
                          {}});
}

std::string last_problem() {
  return std::generic_category().message(errno);
}

// Not through a link, which another user may have placed where anyone may write; nor into a pipe, which keeps nothing.
Descriptor open_to_append(const std::string& path) {
  Descriptor file(
      ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) throw_unwritable(path, last_problem());
  if (!S_ISREG(status.st_mode)) throw_unwritable(path, "it is not an ordinary file");
  return file;
}

// Whether the line before has its end. It has none if the disk was full, or the machine failed.
bool ends_with_line(int file) {
  struct stat status {};
  char last = '\n';
  return fstat(file, &status) != 0 || status.st_size == 0 || pread(file, &last, 1, status.st_size - 1) != 1 ||
         last == '\n';
}

}  // namespace

AuditFile& AuditFile::instance() {
  static AuditFile file;
  return file;
}

void AuditFile::set_path(std::string path) {
  path_ = std::move(path);
}

void AuditFile::append(const std::string& line) {
  if (path_.empty()) return;
  const std::lock_guard guard(mutex_);
  const Descriptor file = open_to_append(path_);
  // Of several processes; given back with the descriptor.
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw_unwritable(path_, last_problem());
  }
  const std::string text = (ends_with_line(file.get()) ? "" : "\n") + line + '\n';
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_unwritable(path_, last_problem());
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fdatasync(file.get()) != 0) throw_unwritable(path_, last_problem());
}

}  // namespace forelock::cli
