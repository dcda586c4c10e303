// The resources that a process uses.
#pragma once

#include <sys/types.h>
#include "support/standard.h"

namespace forelock::robustness {

struct ProcessUse {
  std::int64_t memory_kib = 0;
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
};

// Nothing if the process is gone.
std::optional<ProcessUse> use_of(pid_t process);

}  // namespace forelock::robustness
