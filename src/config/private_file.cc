#include "config/private_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include "config/open_file.h"
#include "config/printable.h"

namespace forelock::config {
namespace {

std::string octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

std::optional<Fault> access_fault(const struct stat& status, const std::string& name, std::string_view content) {
  if (!S_ISREG(status.st_mode)) {
    return Fault{name + " is not a regular file", "name a file with " + std::string(content)};
  }
  std::optional<Fault> fault = ownership_fault(status.st_uid, status.st_mode, ::geteuid());
  if (fault) fault->message = name + ' ' + fault->message;
  return fault;
}

Fault unreadable(const std::string& name, const std::error_code& code) {
  return {name + " cannot be read: " + code.message(), "check the path and its permissions"};
}

constexpr std::size_t longest_digest = 4096;

bool is_digest(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < line.size() &&
         std::none_of(line.begin(), line.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

std::optional<Fault> ownership_fault(uid_t owner, mode_t mode, uid_t user) {
  constexpr uid_t root = 0;
  if (owner == user) {
    if ((mode & (S_IRWXG | S_IRWXO)) == 0) return std::nullopt;
    return Fault{"can be accessed by others (mode " + octal(mode) + ")", "give it mode 0600 (chmod 600)"};
  }
  if (owner != root) {
    return Fault{"belongs to another user (uid " + std::to_string(owner) + ")",
                 "make the user of this process its owner"};
  }
  if ((mode & (S_IWGRP | S_IXGRP | S_IRWXO)) == 0) return std::nullopt;
  return Fault{"belongs to root and can be accessed by others than a group of readers (mode " + octal(mode) + ")",
               "give it mode 0440 and a group of this process, or mode 0600 and the user of this process"};
}

std::optional<Fault> private_file_fault(const std::filesystem::path& path) {
  const std::string name = in_quotes(path.native());
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return unreadable(name, {errno, std::generic_category()});
  return access_fault(status, name, "the settings");
}

std::variant<std::string, Fault> read_private_file(const std::filesystem::path& path, std::size_t limit,
                                                   std::string_view content) {
  const std::string name = in_quotes(path.native());
  try {
    const OpenFile file(path);
    // Looks at the open file, not at its name again: that could be another file by now.
    struct stat status {};
    if (::fstat(file.descriptor(), &status) != 0) throw std::system_error(errno, std::generic_category());
    if (std::optional<Fault> fault = access_fault(status, name, content)) return *std::move(fault);
    std::string text = file.read(limit);
    if (text.size() <= limit && text.ends_with('\n')) text.pop_back();
    if (text.size() <= limit && text.ends_with('\r')) text.pop_back();
    return text;
  } catch (const std::system_error& error) {
    return unreadable(name, error.code());
  }
}

MemoryFile::MemoryFile(std::string_view text) : descriptor_(::memfd_create("forelock", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "a file in memory");
  bool written = ::fchmod(descriptor_, S_IRUSR | S_IWUSR) == 0;
  while (written && !text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    written = count > 0 || (count < 0 && errno == EINTR);
  }
  if (written) return;
  const int reason = errno;
  ::close(descriptor_);
  throw std::system_error(reason, std::generic_category(), "a file in memory");
}

MemoryFile::~MemoryFile() {
  ::close(descriptor_);
}

std::string MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

std::variant<std::string, Fault> read_digest(const std::filesystem::path& path) {
  std::variant<std::string, Fault> text = read_private_file(path, longest_digest, "the line user:password");
  const std::string* const line = std::get_if<std::string>(&text);
  if (line != nullptr && (line->size() > longest_digest || !is_digest(*line))) {
    return Fault{in_quotes(path.native()) + " does not contain one line user:password", "write exactly that one line"};
  }
  return text;
}

}  // namespace forelock::config
