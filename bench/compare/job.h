// The job of a worker of the comparison, and its answer: one line of JSON each.
//
// A job: {"monitors": ["a", …], "threads": T, "sections": N | "seconds": S, "hold_us": 0, "pause_us": 0,
// "priority": "foreground" | "background", "fresh": false, "async": false, "release_async": false}; see workload::Job.
// With "together": "set" | "pipelined" | "one by one", each of N sections takes all monitors (many_locks.h).
//
// An answer: {"sections": N, "seconds": S, "cycle_us": […], "wait_us": […]}: of each section how long lock and unlock
// took together, and how long the lock was waited for. At most max_samples of each, evenly picked.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "workload/job.h"

namespace forelock::bench {

// \throws nlohmann::json::exception for what is no job.
workload::Job to_job(const nlohmann::json& json);
std::string to_json_line(const workload::JobResult& result);

}  // namespace forelock::bench
