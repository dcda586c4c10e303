// A file opened for reading; closed at the end of the scope.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace forelock::config {

class OpenFile {
 public:
  // Throws std::system_error.
  explicit OpenFile(const std::filesystem::path& path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Reads to the end, but never more than `limit` + 1 bytes: so many tell that there is more than `limit`. Works on
  // pipes too. Throws std::system_error.
  std::string read(std::size_t limit) const;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace forelock::config
