// A CommandLog is the log of the command in a file (--log-file), beside what it writes to stderr for people.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "forelock/client.h"

namespace forelock::cli {

struct LogOptions {
  std::string file;             // --log-file; empty: there is none
  std::string format = "text";  // --log-format: or "json", one object a line
  std::string level = "info";   // --log-level: or "error", "warning", "debug"
};

// Thread-safe. Lines are written by a thread of its own: a disk that is slow delays a caller for a bounded time, one
// that is full costs lines, which are counted, and nothing else.
class CommandLog {
 public:
  // That of this process; it writes nothing before open() was called. Never destroyed: its thread may never return.
  static CommandLog& instance();

  // Opens the file and writes `first` to it, at level info. \throws FailureException(exit_output) if that is not
  // possible. Called once, before other threads write. `tell` is called, by the writer's thread, when lines begin
  // to be lost later.
  void open(const LogOptions& options, std::string_view first, std::function<void(const std::string&)> tell);

  // `level` as for LogSink. The line is made printable.
  void write(std::string_view level, std::string_view message);
  // What a client has to log for it.
  LogDetail detail() const;
  // Waits for what is under way, for a bounded time.
  void flush();

 private:
  struct Open;

  CommandLog() = default;
  ~CommandLog() = default;

  std::shared_ptr<Open> open_;  // shared with the writer's thread
};

}  // namespace forelock::cli
