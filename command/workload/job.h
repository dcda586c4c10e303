// A Job is a load to run; a JobResult is its outcome.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace forelock::workload {

using Clock = std::chrono::steady_clock;

// `threads` lock and unlock; thread i uses monitor i modulo their number; with `fresh` each section has a monitor of
// its own, whose name begins so. They end after `sections` altogether, or (0) after `seconds`.
struct Job {
  std::vector<std::string> monitors;
  std::size_t threads = 1;
  std::size_t sections = 0;
  double seconds = 0;
  std::chrono::microseconds hold{0};
  std::chrono::microseconds pause{0};  // how long a thread waits, on average, between two sections
  bool background = false;
  bool fresh = false;
  bool async = false;          // every monitor by callbacks, without threads
  bool release_async = false;  // the reply to a release is not waited for
};

struct Section {
  Clock::duration wait{};
  Clock::duration cycle{};  // without the time for which it was held
};

struct JobResult {
  double seconds = 0;
  std::vector<Section> sections;
};

// When a job that begins now is to end; never, if it has a number of sections.
inline Clock::time_point end_of(const Job& job, Clock::time_point begin) {
  if (job.sections > 0) return Clock::time_point::max();
  return begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(job.seconds));
}

}  // namespace forelock::workload
