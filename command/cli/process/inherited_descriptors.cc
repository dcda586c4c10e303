#include "cli/process/inherited_descriptors.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace forelock::cli {
namespace {

std::vector<int> open_descriptors() {
  std::vector<int> descriptors;
  std::error_code error;  // without /proc nothing is known: libraries' own care must do
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    // The directory's own descriptor is among them, and closed by now.
    if (number >= 0) descriptors.push_back(number);
  }
  std::erase_if(descriptors, [](int number) { return fcntl(number, F_GETFD) < 0; });
  return descriptors;
}

}  // namespace

InheritedDescriptors::InheritedDescriptors() : inherited_(open_descriptors()) {}

void InheritedDescriptors::close_others_on_exec() const {
  for (const int number : open_descriptors()) {
    if (std::find(inherited_.begin(), inherited_.end(), number) == inherited_.end()) fcntl(number, F_SETFD, FD_CLOEXEC);
  }
}

}  // namespace forelock::cli
