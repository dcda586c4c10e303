// A TemporaryDirectory is removed, with everything in it, at the end of its scope.
#pragma once

#include <filesystem>

#include "cli/process/descriptor.h"

namespace forelock::cli {

class TemporaryDirectory {
 public:
  // Under $TMPDIR or /tmp, for this user alone. Removes those that killed processes of this user have left there.
  // \throws std::system_error.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;  // held as long as the process lives
};

}  // namespace forelock::cli
