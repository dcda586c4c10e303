#include "support/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forelock::test {

ChildProcess::ChildProcess(std::vector<std::string> arguments, const std::filesystem::path& output) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) throw std::system_error(errno, std::generic_category(), output.string());
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ == 0) {
    // Only calls that are safe between fork and exec in a program with threads.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  const int error = errno;
  close(file);
  if (id_ < 0) throw std::system_error(error, std::generic_category(), "fork");
}

ChildProcess::~ChildProcess() {
  kill();
}

bool ChildProcess::running() {
  if (status_) return false;
  int status = 0;
  if (waitpid(id_, &status, WNOHANG) == 0) return true;
  status_ = status;
  return false;
}

void ChildProcess::signal(int number) {
  if (running()) ::kill(id_, number);
}

int ChildProcess::wait() {
  while (!status_) {
    int status = 0;
    if (waitpid(id_, &status, 0) == id_ || errno != EINTR) status_ = status;
  }
  return *status_;
}

void ChildProcess::kill() {
  signal(SIGKILL);
  wait();
}

}  // namespace forelock::test
