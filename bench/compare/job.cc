#include "bench/compare/job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace forelock::bench {
namespace {

constexpr std::size_t max_samples = 20'000;

double micros(workload::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

workload::Job to_job(const nlohmann::json& json) {
  workload::Job job;
  job.monitors = json.at("monitors").get<std::vector<std::string>>();
  job.threads = json.value("threads", std::size_t{1});
  job.sections = json.value("sections", std::size_t{0});
  job.seconds = json.value("seconds", 0.0);
  job.hold = std::chrono::microseconds(json.value("hold_us", 0));
  job.pause = std::chrono::microseconds(json.value("pause_us", 0));
  job.background = json.value("priority", "foreground") == "background";
  job.fresh = json.value("fresh", false);
  job.async = json.value("async", false);
  job.release_async = json.value("release_async", false);
  return job;
}

std::string to_json_line(const workload::JobResult& result) {
  nlohmann::json cycles = nlohmann::json::array();
  nlohmann::json waits = nlohmann::json::array();
  const std::size_t step = std::max<std::size_t>(1, result.sections.size() / max_samples);
  for (std::size_t i = 0; i < result.sections.size(); i += step) {
    cycles.push_back(micros(result.sections[i].cycle));
    waits.push_back(micros(result.sections[i].wait));
  }
  return nlohmann::json{{"sections", result.sections.size()},
                        {"seconds", result.seconds},
                        {"cycle_us", std::move(cycles)},
                        {"wait_us", std::move(waits)}}
      .dump();
}

}  // namespace forelock::bench
