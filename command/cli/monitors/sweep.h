// A sweep removes unused monitors that crashed processes have left behind.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "forelock/client.h"

namespace forelock::cli {

struct SweepReport {
  std::vector<std::string> removed;
  std::size_t in_use = 0;
  std::size_t too_young = 0;
  std::size_t of_others = 0;
  std::size_t unreadable = 0;  // not permitted to us
};

struct SweepOptions {
  std::chrono::milliseconds older_than = std::chrono::minutes(1);  // by the server's clock
  bool dry_run = false;                                            // `removed` would be
  std::chrono::milliseconds patience{};                            // with each answer
};

// Monitors in use and nodes of other programs stay, for a day also those whose lock was taken away by force.
// \throws ConnectionLossException, SessionExpiredException, RequestRejectedException; what has been removed stays so.
SweepReport sweep(Client& client, const SweepOptions& options);

}  // namespace forelock::cli
