#include "robustness/runner/process_use.h"

namespace forelock::robustness {

namespace fs = std::filesystem;

std::optional<ProcessUse> use_of(pid_t process) {
  const fs::path directory = "/proc/" + std::to_string(process);
  std::ifstream status(directory / "status");
  ProcessUse use;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "VmRSS:") words >> use.memory_kib;
    if (key == "Threads:") words >> use.threads;
  }
  std::error_code gone;
  const fs::directory_iterator descriptors(directory / "fd", gone);
  if (gone || use.memory_kib == 0) return std::nullopt;
  use.descriptors = std::distance(begin(descriptors), end(descriptors));
  return use;
}

}  // namespace forelock::robustness
