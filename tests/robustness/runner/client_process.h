// A client that is started, hurt, killed and started again.
#pragma once

#include "robustness/history/history_writer.h"
#include "robustness/runner/excuses.h"
#include "robustness/runner/wires.h"
#include "support/child_process.h"

namespace forelock::robustness {

// Thread-safe. The process dies with the thread that called start().
class ClientProcess {
 public:
  // The command for a process of this name.
  using Command = std::function<std::vector<std::string>(const ClientProcess&, const std::string& process)>;

  struct Place {
    std::filesystem::path directory;  // of the history
    HistoryWriter& history;           // the runner's
    Excuses& excuses;
    bool encrypted = false;  // its connections are TLS
  };

  // `slot` is the name of all processes that follow each other; `kind` what they are.
  ClientProcess(std::string slot, std::string kind, const std::vector<std::uint16_t>& server_ports, Command command,
                Place place);

  const std::string& slot() const { return slot_; }
  const std::string& kind() const { return kind_; }
  // The name of the one that runs, or ran last.
  std::string process() const;
  Wires& wires() { return wires_; }
  const Wires& wires() const { return wires_; }
  // A file for this slot, beside the history.
  std::filesystem::path file(const std::string& extension) const { return place_.directory / (slot_ + extension); }

  void start();
  bool running();
  // Of the process that runs; nothing if none does.
  std::optional<pid_t> id();
  // If it has ended and nobody asked it to: how, with the last that it said.
  std::optional<std::string> crash();
  // With its children.
  void kill();
  void pause();
  void resume();
  void terminate();
  // Whether it has said that it is quiet; see worker/main.cc.
  bool quiet() const;

 private:
  void signal(int number);

  const std::string slot_;
  const std::string kind_;
  const Command command_;
  const Place place_;
  Wires wires_;
  mutable std::mutex mutex_;
  int started_ = 0;
  bool to_end_ = false;
  std::unique_ptr<test::ChildProcess> child_;
};

}  // namespace forelock::robustness
