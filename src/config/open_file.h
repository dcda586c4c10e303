// A file opened for reading; closed at the end of the scope.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>

namespace forelock::config {

class OpenFile {
 public:
  enum class Kind {
    any,
    regular  // regular files only: opening a pipe without a writer would block
  };
  // Throws std::system_error.
  explicit OpenFile(const std::filesystem::path& path, Kind kind = Kind::any);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Reads to the end, but never more than `limit` + 1 bytes: so many tell that there is more than `limit`. Works on
  // pipes too. Throws std::system_error.
  std::string read(std::size_t limit) const;

  // Of the open file, whose name may be another file's by now. Throws std::system_error.
  struct stat status() const;

 private:
  int descriptor_;
};

}  // namespace forelock::config
