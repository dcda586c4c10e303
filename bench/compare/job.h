// What a worker of the comparison is told to do, and what it answers: one line of JSON each.
//
// A job: {"monitors": ["a", …], "threads": T, "sections": N | "seconds": S, "hold_us": 0, "pause_us": 0,
// "priority": "foreground" | "background", "fresh": false, "async": false, "release_async": false}.
// T threads lock and unlock; thread i uses monitor i modulo their number; with `fresh` each section has a monitor of
// its own, whose name begins so. They end after N sections altogether or after S seconds. `pause_us`: how long a thread
// waits, on average, between two sections. `async`: every monitor by callbacks, without threads. `release_async`:
// nobody waits for the reply to a release.
//
// An answer: {"sections": N, "seconds": S, "cycle_us": […], "wait_us": […]}: of each section how long lock and unlock
// took together, and how long the lock was waited for. At most max_samples of each, evenly picked.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/samples.h"

namespace forelock::bench {

struct Job {
  std::vector<std::string> monitors;
  std::size_t threads = 1;
  std::size_t sections = 0;
  double seconds = 0;
  std::chrono::microseconds hold{0};
  std::chrono::microseconds pause{0};
  bool background = false;
  bool fresh = false;
  bool async = false;
  bool release_async = false;
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

// \throws nlohmann::json::exception for what is no job.
Job to_job(const nlohmann::json& json);
std::string to_json_line(const JobResult& result);

}  // namespace forelock::bench
