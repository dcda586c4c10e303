#include "support/limited_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forelock::test {
namespace {

constexpr unsigned longest_seconds = 60;

[[noreturn]] void run_child(const std::function<int()>& function) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(longest_seconds);
  const auto user = static_cast<uid_t>(40'000 + getpid() % 20'000);
  int code = EXIT_FAILURE;
  if (setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0) {
    prctl(PR_SET_DUMPABLE, 1);  // else its own /proc/self is closed to it
    set_limit(RLIMIT_CORE, 0);
    try {
      code = function();
    } catch (const std::exception& problem) {
      std::cerr << "in the child: " << problem.what() << '\n';
    }
  }
  _exit(code);
}

}  // namespace

bool can_be_another_user() {
  return geteuid() == 0;
}

int run_as_another_user(const std::function<int()>& function) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) run_child(function);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

rlim_t hard_limit(int resource) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  return limit.rlim_max;
}

void set_limit(int resource, rlim_t limit) {
  const rlimit both{limit, hard_limit(resource)};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

}  // namespace forelock::test
