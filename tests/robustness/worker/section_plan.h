// What a worker does next, decided by a seed.
#pragma once

#include <chrono>
#include <random>
#include <string>

#include "forelock/priority.h"
#include "robustness/worker/worker_options.h"

namespace forelock::robustness {

struct SectionPlan {
  enum class Wait {
    configured,  // the time-out that is configured for the class
    limited,     // `limit`
    none,        // only if it is free
    cancelled    // `limit`, but withdrawn after `cancel_after` if it lasts so long
  };
  enum class Release { confirmed, asynchronous, destructor };

  std::string monitor;
  Priority priority = Priority::foreground;
  Wait wait = Wait::configured;
  std::chrono::milliseconds limit{0};
  std::chrono::milliseconds cancel_after{0};
  std::chrono::milliseconds hold{0};
  Release release = Release::confirmed;
  bool callbacks = false;   // of the line: on_queued, on_contended
  bool step_aside = false;  // once, while held
  std::chrono::microseconds pause{0};
};

// Not thread-safe: one for each thread.
class SectionPlanner {
 public:
  SectionPlanner(const WorkerOptions& options, std::uint64_t seed) : options_(options), random_(seed) {}

  SectionPlan next();

 private:
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  std::chrono::milliseconds between(int from, int to) {
    return std::chrono::milliseconds(std::uniform_int_distribution(from, to)(random_));
  }
  std::string monitor();
  void decide_waiting(SectionPlan& plan);
  void decide_holding(SectionPlan& plan);

  const WorkerOptions& options_;
  std::mt19937_64 random_;
};

}  // namespace forelock::robustness
