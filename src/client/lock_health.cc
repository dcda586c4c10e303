#include "client/lock_health.h"

#include "forelock/error.h"

namespace forelock::client {

void check_danger_margin(const ClientCore& core, const std::string& monitor, std::chrono::milliseconds margin) {
  const std::chrono::milliseconds timeout = core.settings().session_timeout();
  if (margin > std::chrono::milliseconds(0) && margin <= timeout / 3) return;
  throw RequestRejectedException(
      ErrorCode::invalid_argument, monitor,
      "the danger margin must be more than 0 and at most a third of the session time-out of " +
          std::to_string(timeout.count()) + " ms");
}

}  // namespace forelock::client
