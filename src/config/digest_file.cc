#include "config/digest_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>

#include "config/open_file.h"
#include "config/printable.h"

namespace forelock::config {
namespace {

constexpr std::size_t longest_digest = 4096;

// Looks at the open file, not at its name again: that could be another file by now.
std::optional<Fault> check_access(const OpenFile& file, const std::string& name) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) throw std::system_error(errno, std::generic_category());
  if (!S_ISREG(status.st_mode))
    return Fault{name + " is not a regular file", "name a file with the line user:password"};
  if (status.st_uid != ::geteuid()) {
    return Fault{name + " belongs to another user (uid " + std::to_string(status.st_uid) + ")",
                 "make the user of this process its owner"};
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
    return Fault{name + " can be accessed by others (mode " + mode + ")", "give it mode 0600 (chmod 600)"};
  }
  return std::nullopt;
}

bool is_digest(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < line.size() &&
         std::none_of(line.begin(), line.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

std::variant<std::string, Fault> read_digest(const std::filesystem::path& path) {
  const std::string name = in_quotes(path.native());
  try {
    const OpenFile file(path);
    if (std::optional<Fault> fault = check_access(file, name)) return *std::move(fault);
    std::string text = file.read(longest_digest);
    const bool too_long = text.size() > longest_digest;
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    if (too_long || !is_digest(text)) {
      return Fault{name + " does not contain one line user:password", "write exactly that one line"};
    }
    return text;
  } catch (const std::system_error& error) {
    return Fault{name + " cannot be read: " + error.code().message(), "check the path and its permissions"};
  }
}

}  // namespace forelock::config
