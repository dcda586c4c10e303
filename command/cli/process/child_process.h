// A command as a child process, in a process group of its own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forelock::cli {

struct ChildOptions {
  std::vector<std::string> command;                              // not empty; looked for in $PATH
  std::vector<std::pair<std::string, std::string>> environment;  // over the inherited one
  std::vector<std::string> hidden;                               // what it does not inherit of the environment
  int death_signal = 0;                                          // what it gets when this process dies; 0: nothing
  std::optional<std::string> input;                              // what it reads from stdin; nothing: inherited
  std::string output;                                            // file for stdout and stderr; empty: inherited
  bool output_to_stderr = false;                                 // its stdout is our stderr: ours is for results
  int kept_open = -1;                                            // a descriptor that stays open in it; -1: none
  bool foreground = true;                                        // gets the terminal, if this process has it
  std::function<void()> may_begin;                               // called last before it is made; may throw
};

class ChildProcess {
 public:
  // Starts it, with the signals that this process blocks unblocked again, and with the terminal if this process has it.
  // \throws FailureException with exit code 126 or 127 if it cannot be executed, and what may_begin throws.
  explicit ChildProcess(const ChildOptions& options);
  // Gives the terminal back; kills the group if the child still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Sends a signal to the whole group, and to the child should it have left it.
  void signal_group(int signal) const;

  // To be called after SIGCHLD. A child that was stopped from its keyboard is told to go on, and this returns whether
  // that happened: its lock would run out meanwhile.
  bool update();

  // The child's exit code, 128+n if signal n ended it; nothing while it runs.
  std::optional<int> exit_code() const { return exit_code_; }
  // The signal that ended it; 0 if none did.
  int signal() const { return signal_; }
  // Whether it ended as if the user had pressed the interrupt or quit key of the terminal that it had: such a signal
  // goes to it alone.
  bool interrupted() const;
  pid_t id() const { return id_; }

 private:
  void take_terminal() const;

  pid_t id_ = -1;
  bool gave_terminal_ = false;
  std::optional<int> exit_code_;
  int signal_ = 0;
};

}  // namespace forelock::cli
