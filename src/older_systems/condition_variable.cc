// std::condition_variable::wait() as libstdc++ 12 exports it: under a version that libstdc++ 11 does not have. By its
// linker's name, since a member of a standard class cannot be hidden.
#include <pthread.h>

#include <condition_variable>
#include <mutex>

namespace forelock {

__attribute__((visibility("hidden"))) void wait(std::condition_variable* condition,
                                                std::unique_lock<std::mutex>* lock) noexcept
    __asm__("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");

void wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock) noexcept {
  pthread_cond_wait(condition->native_handle(), lock->mutex()->native_handle());
}

}  // namespace forelock
