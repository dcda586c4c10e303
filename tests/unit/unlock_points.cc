#include "unlock_points.h"

#include <dlfcn.h>
#include <pthread.h>

namespace {

thread_local int held = 0;
thread_local int points_left = 0;
thread_local const std::function<void()>* between_sections = nullptr;

}  // namespace

#ifndef __SANITIZE_THREAD__

// What std::mutex calls. The first call of each may come before anything of this program is initialised.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Function = int(pthread_mutex_t*);
  static auto* const real = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  const int result = real(mutex);
  if (result == 0) ++held;
  return result;
}

extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  using Function = int(pthread_mutex_t*);
  static auto* const real = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "pthread_mutex_unlock"));
  const int result = real(mutex);
  if (result == 0 && --held == 0 && between_sections != nullptr && --points_left == 0) {
    (*std::exchange(between_sections, nullptr))();
  }
  return result;
}

#endif

namespace forelock::test {

bool unlock_points_work() {
#ifdef __SANITIZE_THREAD__
  return false;
#else
  return true;
#endif
}

bool run_at_unlock_point(int point, const std::function<void()>& call, const std::function<void()>& between) {
  held = 0;
  points_left = point;
  between_sections = &between;
  call();
  return std::exchange(between_sections, nullptr) == nullptr;
}

}  // namespace forelock::test
