// A RotatingFile is a log file of bounded size: a full one is renamed to PATH.1, that one to PATH.2, and so on; the
// oldest is removed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/process/descriptor.h"

namespace forelock::cli {

// Several processes may write to one PATH: lines come out whole, and the file is renamed by one of them. Made with mode
// 0600, and not inherited by children. Not thread-safe.
class RotatingFile {
 public:
  struct Limits {
    std::size_t bytes = 10 * 1024 * 1024;  // of each file; one line more where several processes write
    int files = 5;                         // PATH among them
  };

  // Makes or continues it. \throws std::system_error; also for what is no file, such as a pipe, whose reader could stop
  // us. Devices are taken as they are, and never renamed.
  RotatingFile(std::string path, Limits limits);

  // Appends whole lines. After an error (a disk without room) a part of them may be there, as a line of its own.
  std::error_code append(std::string_view lines);
  const std::string& path() const { return path_; }

 private:
  std::error_code open();
  std::error_code write_all(std::string_view text);
  // Another process has renamed it, or an administrator has.
  bool moved() const;
  void rotate();
  std::string numbered(int number) const { return path_ + '.' + std::to_string(number); }

  const std::string path_;
  const Limits limits_;
  Descriptor file_;
  bool ordinary_ = true;
  bool torn_ = false;  // the last line has no end
};

}  // namespace forelock::cli
