#include "cli/wake_up.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

namespace forelock::cli {

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

}  // namespace forelock::cli
