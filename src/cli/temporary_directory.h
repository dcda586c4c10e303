// A directory that is removed, with everything in it, at the end of the scope.
#pragma once

#include <filesystem>

namespace forelock::cli {

class TemporaryDirectory {
 public:
  // Under $TMPDIR or /tmp, for this user alone. \throws std::system_error.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace forelock::cli
