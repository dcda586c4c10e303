#include "cli/process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/process/descriptor.h"

extern char** environ;

namespace forelock::cli {
namespace {

std::vector<std::string> environment_of(const ChildOptions& child) {
  const std::vector<std::pair<std::string, std::string>>& changes = child.environment;
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool changed = std::find(child.hidden.begin(), child.hidden.end(), name) != child.hidden.end();
    for (const auto& change : changes) changed = changed || change.first == name;
    if (!changed) environment.emplace_back(text);
  }
  for (const auto& [name, value] : changes) environment.push_back(name + '=' + value);
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Everything the child needs between fork and exec, made before: there, nothing may allocate.
struct Launch {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  pid_t parent;
  int death_signal;
  bool wants_terminal;
  int input;
  int output;
  bool output_to_stderr;
  int kept_open;
  int report;  // errno of a failed exec goes here
};

[[noreturn]] void become(const Launch& launch) {
  setpgid(0, 0);
  // While this signal is still blocked: a process in the background is stopped by it.
  if (launch.wants_terminal) tcsetpgrp(STDIN_FILENO, getpid());
  if (launch.death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, launch.death_signal);
    if (getppid() != launch.parent) _exit(exit_signalled(launch.death_signal));
  }
  if (launch.input >= 0) dup2(launch.input, STDIN_FILENO);
  if (launch.output >= 0) {
    dup2(launch.output, STDOUT_FILENO);
    dup2(launch.output, STDERR_FILENO);
  }
  if (launch.output_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
  if (launch.kept_open >= 0) fcntl(launch.kept_open, F_SETFD, 0);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(launch.arguments[0], launch.arguments.data(), launch.environment.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(launch.report, &error, sizeof error);
  _exit(error == ENOENT ? exit_command_not_found : exit_cannot_execute);
}

// A line for a shell, as one word.
bool looks_like_a_line(const std::vector<std::string>& command) {
  return command.size() == 1 && command.front().find_first_of(" |&;<>") != std::string::npos;
}

[[noreturn]] void throw_not_executed(const std::vector<std::string>& words, int error) {
  const bool missing = error == ENOENT;
  const std::string& command = words.front();
  throw FailureException(
      {missing ? exit_command_not_found : exit_cannot_execute,
       missing ? "command_not_found" : "cannot_execute",
       command + ": " + std::generic_category().message(error),
       looks_like_a_line(words) ? "there is no shell in between: -- sh -c " + shell_quoted(command) : "",
       {},
       false,
       {}});
}

// A file without a name: the child may read it as slowly as it likes, or not at all, and no thread has to feed a pipe.
Descriptor file_of(const std::string& contents) {
  Descriptor file(memfd_create("forelock-input", MFD_CLOEXEC));
  std::size_t done = 0;
  while (file.get() >= 0 && done < contents.size()) {
    const ssize_t written = write(file.get(), contents.data() + done, contents.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    done += static_cast<std::size_t>(written);
  }
  if (file.get() < 0 || done < contents.size() || lseek(file.get(), 0, SEEK_SET) != 0)
    throw std::system_error(errno, std::generic_category(), "the command's input");
  return file;
}

bool owns_terminal() {
  return isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

// Changing the terminal's group from the background is answered with SIGTTOU, unless that is blocked.
class BlockTtou {
 public:
  BlockTtou() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~BlockTtou() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

ChildProcess::ChildProcess(const ChildOptions& options) {
  std::vector<std::string> arguments = options.command;
  std::vector<std::string> environment = environment_of(options);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const Descriptor reading(ends[0]);
  Descriptor report(ends[1]);
  Descriptor output;
  if (!options.output.empty())
    output = Descriptor(open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));

  Descriptor input;
  if (options.input) input = file_of(*options.input);

  gave_terminal_ = options.foreground && owns_terminal();
  const BlockTtou block;
  const Launch launch{pointers_to(arguments),
                      pointers_to(environment),
                      getpid(),
                      options.death_signal,
                      gave_terminal_,
                      input.get(),
                      output.get(),
                      options.output_to_stderr,
                      options.kept_open,
                      report.get()};
  if (options.may_begin) options.may_begin();
  id_ = fork();
  if (id_ == 0) become(launch);
  if (id_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  setpgid(id_, id_);  // in both processes: either may run first
  report.close();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(reading.get(), &error, sizeof error);  // ends when exec has closed the other side
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof error)) {
    waitpid(id_, nullptr, 0);
    take_terminal();
    throw_not_executed(options.command, error);
  }
}

ChildProcess::~ChildProcess() {
  if (!exit_code_) {
    signal_group(SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  take_terminal();
}

void ChildProcess::signal_group(int signal) const {
  if (id_ <= 0) return;
  kill(-id_, signal);
  if (!exit_code_ && getpgid(id_) != id_) kill(id_, signal);
}

bool ChildProcess::update() {
  int status = 0;
  bool continued = false;
  // One SIGCHLD may stand for several changes.
  while (!exit_code_ && waitpid(id_, &status, WNOHANG | WUNTRACED) == id_) {
    if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) {
      signal_ = WTERMSIG(status);
      exit_code_ = exit_signalled(signal_);
    }
    if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP) {
      signal_group(SIGCONT);
      continued = true;
    }
  }
  return continued;
}

bool ChildProcess::interrupted() const {
  return gave_terminal_ && (exit_code_ == exit_signalled(SIGINT) || exit_code_ == exit_signalled(SIGQUIT));
}

void ChildProcess::take_terminal() const {
  if (!gave_terminal_) return;
  const BlockTtou block;
  tcsetpgrp(STDIN_FILENO, getpgrp());
}

}  // namespace forelock::cli
