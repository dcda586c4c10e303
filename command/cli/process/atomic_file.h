// A file that is complete under its name, or not there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/process/descriptor.h"

namespace forelock::cli {

// A file without a name (mode 0600) that gets its name by commit(): a program that is killed before leaves nothing of
// it, and a file that had the name keeps it. Where the file system knows no files without a name it has another one
// meanwhile. A symbolic link is followed. What is no ordinary file, such as a device or a pipe, is written to as it is.
// All methods throw FailureException (exit_output).
class AtomicFile {
 public:
  // \param replace whether an ordinary file that exists may be replaced; if not, it is a FailureException (exit_usage).
  AtomicFile(const std::string& path, bool replace);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  // Durable when it returns.
  void commit();

 private:
  void open_unnamed();
  void give_name();
  void flush();
  [[noreturn]] void fail(const char* what) const;
  [[noreturn]] void fail_existing() const;

  std::string path_;
  bool replace_;
  bool ordinary_ = true;
  std::string temporary_;  // the other name; empty while there is none
  Descriptor file_;
  std::string waiting_;
};

}  // namespace forelock::cli
