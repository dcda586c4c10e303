#include "zookeeper/fork_guard.h"

#include <pthread.h>

namespace forelock::zookeeper {

void ForkGuard::count_fork() {
  generation_.fetch_add(1, std::memory_order_relaxed);
}

ForkGuard::ForkGuard() : born_(generation_.load(std::memory_order_relaxed)) {
  static const int registered = pthread_atfork(nullptr, nullptr, &ForkGuard::count_fork);
  static_cast<void>(registered);
}

}  // namespace forelock::zookeeper
