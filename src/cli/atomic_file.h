// A file that is complete under its name, or not there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/descriptor.h"

namespace forelock::cli {

// Written beside its place under another name, with mode 0600, and moved there by commit(). Without commit() nothing of
// it stays, and a file that had the name keeps it. All methods throw FailureException (exit_output).
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  // Durable when it returns.
  void commit();

 private:
  void flush();
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::string temporary_;  // empty once it has moved
  Descriptor file_;
  std::string waiting_;
};

}  // namespace forelock::cli
