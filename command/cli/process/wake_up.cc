#include "cli/process/wake_up.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace forelock::cli {
namespace {

int milliseconds_until(std::chrono::steady_clock::time_point until) {
  if (until == std::chrono::steady_clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

}  // namespace

WakeUp::WakeUp() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void WakeUp::notify() const noexcept {
  eventfd_write(event_.get(), 1);
}

void WakeUp::clear() const noexcept {
  eventfd_t count = 0;
  eventfd_read(event_.get(), &count);
}

void wait_readable(int descriptor, const WakeUp& wake_up, std::chrono::steady_clock::time_point until) {
  std::array<pollfd, 2> polled{{{descriptor, POLLIN, 0}, {wake_up.descriptor(), POLLIN, 0}}};
  poll(polled.data(), polled.size(), milliseconds_until(until));
  if (polled[1].revents != 0) wake_up.clear();
}

}  // namespace forelock::cli
