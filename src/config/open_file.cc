#include "config/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace forelock::config {

OpenFile::OpenFile(const std::filesystem::path& path, Kind kind)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (kind == Kind::regular ? O_NONBLOCK : 0))) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
}

OpenFile::~OpenFile() {
  ::close(descriptor_);
}

std::string OpenFile::read(std::size_t limit) const {
  std::string text(limit + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(descriptor_, text.data() + size, text.size() - size);
    if (count == 0) break;
    if (count > 0) {
      size += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category());
    }
  }
  text.resize(size);
  return text;
}

struct stat OpenFile::status() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw std::system_error(errno, std::generic_category());
  return status;
}

}  // namespace forelock::config
