// The numbers of `serve` in Prometheus' text format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/serve/acts.h"
#include "cli/serve/history/history.h"
#include "cli/serve/letter_count.h"
#include "cli/serve/picture.h"
#include "cli/serve/unlocker.h"

namespace forelock::cli {

struct MetricsInput {
  const Picture* picture = nullptr;  // nothing if there is none that may be shown as the present
  bool connected = false;            // the session at ZooKeeper
  std::uint64_t sessions_expired = 0;
  std::size_t connections = 0;  // of the web server
  std::size_t streams = 0;
  const LookCounts* look = nullptr;
  const Unlocker* unlocker = nullptr;    // nothing without --unlocker
  const History* history = nullptr;      // nothing without --history
  const Acts* acts = nullptr;            // nothing without --admin
  const LetterCount* letters = nullptr;  // nothing without --dead-letters
};

// No monitor's id, host or owner becomes a label: their number has no bound. What comes from the picture is left out
// while there is none, so that a past value is not taken for the present. The unlocker's own lock, which is held all
// the time, is not counted.
std::string metrics_text(const MetricsInput& input);

}  // namespace forelock::cli
