#include "cli/process/signal_queue.h"

#include <sys/signalfd.h>

#include <cerrno>
#include <system_error>

namespace forelock::cli {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalQueue::SignalQueue(const std::vector<int>& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) {
    if (signal == SIGCHLD) {
      ::signal(SIGCHLD, SIG_DFL);  // if it were ignored, the child's exit code would be lost
    } else if (is_ignored(signal)) {
      continue;
    }
    sigaddset(&set, signal);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  descriptor_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (descriptor_.get() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

std::optional<int> SignalQueue::wait(const WakeUp& wake_up, std::chrono::steady_clock::time_point until) {
  wait_readable(descriptor_.get(), wake_up, until);
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

bool ends_waiting(int signal) {
  return signal != SIGCHLD && signal != SIGWINCH && signal != SIGCONT;
}

}  // namespace forelock::cli
