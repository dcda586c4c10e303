#pragma once

#include <sys/types.h>

#include "support/standard.h"

namespace forelock::test {

// A program that runs as a child and dies with this process at the latest (strictly: with the thread that started it).
// Not thread-safe.
class ChildProcess {
 public:
  // Runs arguments[0], searched in $PATH; its output is appended to the file. Throws std::system_error.
  ChildProcess(std::vector<std::string> arguments, const std::filesystem::path& output);
  // Kills it when it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return id_; }
  bool running();
  // What wait() returns; nothing while it runs.
  std::optional<int> status() const { return status_; }
  void signal(int number);
  // Returns its wait status.
  int wait();
  void kill();

 private:
  pid_t id_ = -1;
  std::optional<int> status_;
};

}  // namespace forelock::test
