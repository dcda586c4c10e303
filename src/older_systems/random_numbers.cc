// arc4random() of glibc 2.36, for std::random_device.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  // So few bytes are never cut short. A kernel older than 3.17 has none, and glibc's own gives up there as well.
  if (getentropy(&number, sizeof number) != 0) std::abort();
  return number;
}
