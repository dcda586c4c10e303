#include "config/private_file.h"

#include <sys/stat.h>
#include <unistd.h>

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

std::string without_line_end(std::string text, std::size_t limit) {
  if (text.size() <= limit && text.ends_with('\n')) text.pop_back();
  if (text.size() <= limit && text.ends_with('\r')) text.pop_back();
  return text;
}

std::variant<std::string, Fault> read_private_file(const std::filesystem::path& path, std::size_t limit,
                                                   std::string_view content) {
  const std::string name = in_quotes(path.native());
  try {
    const OpenFile file(path, OpenFile::Kind::regular);
    if (std::optional<Fault> fault = access_fault(file.status(), name, content)) return *std::move(fault);
    return without_line_end(file.read(limit), limit);
  } catch (const std::system_error& error) {
    return unreadable(name, error.code());
  }
}

}  // namespace forelock::config
