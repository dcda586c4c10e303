// Judges clients that contend for hours and never end: what they keep must not grow.
#pragma once

#include "support/standard.h"

namespace forelock::robustness {

// What everybody had used at one time. Counts of clients are by name: "memory_kib", "descriptors", "sections",
// "requests", "disconnections", "expired".
struct ContentionSample {
  double seconds = 0;        // since the contention began
  std::int64_t watches = 0;  // as the servers count them, all of them together
  std::int64_t nodes = 0;
  std::vector<std::map<std::string, std::int64_t>> clients;
};

// What was seen of a client when nobody contended any more, and the servers had been restarted.
struct ContenderEnd {
  bool answered = false;      // it still runs
  bool same_session = false;  // as in the beginning
  bool locks_again = false;
  std::int64_t contenders = 0;       // not yet gone from the servers
  std::int64_t disconnections = 0;   // since the restart began
  std::int64_t aged = 0;             // sections of its background work while foreground work always waited
  std::int64_t longest_wait_ms = 0;  // of that
};

struct ContentionEnd {
  std::int64_t idle_watches = 0;
  std::int64_t idle_nodes = 0;
  std::vector<ContenderEnd> clients;
};

struct ContentionVerdict {
  // From the first to the second half of the time, the warm-up left out; medians.
  struct Change {
    double first = 0;
    double second = 0;
  };
  std::map<std::string, Change> changes;  // of what all together use: "watches", "nodes", "memory_kib", …
  std::int64_t sections = 0;
  std::int64_t most_watches = 0;
  std::vector<std::string> violations;

  std::string json(const ContentionEnd& end) const;
};

// So much is allowed.
struct ContentionBounds {
  std::int64_t watches_of_busy_client = 24;
  std::int64_t watches_of_idle_client = 8;
  std::int64_t idle_nodes = 40;  // ZooKeeper's own among them
  std::int64_t disconnections = 20;
  std::int64_t longest_wait_ms = 8000;  // of background work that ages
};

ContentionVerdict judge_contention(const std::vector<ContentionSample>& samples, const ContentionEnd& end,
                                   const ContentionBounds& bounds = {});

}  // namespace forelock::robustness
