// Keeps signals away from the threads that are made meanwhile.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace forelock::zookeeper {

// Threads made meanwhile inherit a mask without signals: the host's handlers must not run on them.
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

}  // namespace forelock::zookeeper
