// A Family is a command and all that it has started, wherever it has gone: a group or session of its own hides no
// process from /proc.
#pragma once

#include <sys/types.h>

#include <set>
#include <tuple>
#include <vector>

namespace forelock::cli {

// Makes orphaned descendants of this process its children, so that every Family with all_descendants finds them. The
// caller reaps them.
void adopt_orphans();

// Zombies are left out. Where there is no /proc, it is empty. Not thread-safe.
class Family {
 public:
  // \param command its process, which leads a group of its own.
  // \param all_descendants whether all descendants of this process belong to it (see adopt_orphans). If not, a process
  //        whose parent had ended before the first look, and that has left the group, is not found.
  Family(pid_t command, bool all_descendants) : command_(command), all_descendants_(all_descendants) {}

  pid_t command() const { return command_; }
  // Whether anything runs that belongs to it.
  bool is_left();
  // Sends signals to all that belongs to it: first to the command's group, then to those that have left it.
  // \returns a process that we may not send signals to, as it runs as another user: the command, if it is one of them;
  // 0 if there is none.
  pid_t signal(const std::vector<int>& signals);
  // Sends SIGKILL until nothing is left that was not killed: what forks meanwhile does not escape, unless it is faster
  // than a bounded number of looks. \returns as signal().
  pid_t kill();

 private:
  struct Process {
    pid_t id = 0;
    unsigned long long started = 0;  // an id that is used again has another one
    pid_t parent = 0;
    pid_t group = 0;

    bool operator<(const Process& other) const { return std::tie(id, started) < std::tie(other.id, other.started); }
  };

  static bool read(const char* id, Process& process);
  // Notes the process in `refused` if we may not send it a signal.
  void look_for_refusal(pid_t process, pid_t& refused) const;
  // Those that run at this moment. They are remembered, and so found again without their parents.
  const std::set<Process>& members();

  const pid_t command_;
  const bool all_descendants_;
  std::set<Process> seen_;
};

}  // namespace forelock::cli
