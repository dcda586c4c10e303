// Threads of the library take no signals: the host application's handlers must not run on them.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>
#include <utility>

namespace forelock::base {

// Threads that are started while it lives inherit a mask without signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// The error of a thread that cannot be started, with the next step in its message. It may pass: threads end.
class NoThread : public std::system_error {
 public:
  explicit NoThread(std::error_code code)
      : std::system_error(code,
                          "no thread can be started: a limit of this process, its user or its container is reached "
                          "(ulimit -u, TasksMax, pids.max, memory)") {}
};

// `name`: as tools show it, at most 15 bytes. Throws NoThread.
template <class Fn>
std::thread start_thread(const char* name, Fn fn) {
  const SignalsBlocked signals_blocked;
  std::thread thread;
  try {
    thread = std::thread(std::move(fn));
  } catch (const std::system_error& problem) {
    throw NoThread(problem.code());
  }
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace forelock::base
