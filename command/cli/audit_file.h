// The audit file keeps what was done to the locks and letters of others: one JSON object a line, only ever appended.
#pragma once

#include <mutex>
#include <string>

namespace forelock::cli {

// Any thread, and any number of processes on one machine.
class AuditFile {
 public:
  // The one of this process.
  static AuditFile& instance();

  // Where it is: --audit-file, or $FORELOCK_AUDIT_FILE; empty: nowhere, and nothing is kept. Opened at the first line.
  void set_path(std::string path);
  const std::string& path() const { return path_; }

  // Appends it, with a newline; when it returns, the line is on the disk. \throws FailureException (74).
  void append(const std::string& line);

 private:
  std::string path_;
  std::mutex mutex_;
};

}  // namespace forelock::cli
