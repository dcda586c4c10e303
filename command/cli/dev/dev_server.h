// A DevServer is a throw-away ZooKeeper server on this machine, for trying things out and for tests of scripts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/process/child_process.h"

namespace forelock::cli {

struct DevServerOptions {
  std::uint16_t port = 0;           // 0: any free one
  std::filesystem::path directory;  // for data, log and configuration; exists
};

// Listens on 127.0.0.1 alone. Ends with this object, and with this process however it ends.
class DevServer {
 public:
  // Starts it; does not wait. \throws FailureException if there is no Java or no ZooKeeper on this machine, or if the
  // port is taken.
  explicit DevServer(const DevServerOptions& options);

  // "127.0.0.1:PORT"
  std::string address() const;
  // A settings file that names it.
  std::string settings_file() const;

  // Whether this server, and not another one, serves at its address.
  bool serving() const;
  // To be called after SIGCHLD. \returns whether it still runs.
  bool running();
  // The end of its log.
  std::string log_tail() const;
  // The one line of it that says why it has ended, as far as can be told.
  std::string last_words() const;

 private:
  std::filesystem::path file(const char* name) const { return directory_ / name; }
  void write_files() const;

  std::filesystem::path directory_;
  std::uint16_t port_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace forelock::cli
