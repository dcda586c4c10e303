#include "clock_jump.h"

#include <dlfcn.h>
#include <time.h>

namespace {

std::atomic<std::int64_t> ahead{0};

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using Function = int(clockid_t, timespec*);
  static auto* const real = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, time);
  if (result != 0 || clock != CLOCK_BOOTTIME) return result;
  const std::int64_t nanoseconds = time->tv_nsec + ahead.load();
  time->tv_sec += nanoseconds / 1'000'000'000;
  time->tv_nsec = nanoseconds % 1'000'000'000;
  return result;
}

namespace forelock::test {

void suspend_for(std::chrono::nanoseconds time) {
  ahead += time.count();
}

}  // namespace forelock::test
