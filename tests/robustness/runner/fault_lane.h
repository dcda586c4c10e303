// A thread that brings about one fault after the other, as a seed decides.
#pragma once

#include "robustness/runner/strike.h"

namespace forelock::robustness {

struct LaneOptions {
  std::string name;
  std::uint64_t seed = 1;
  std::chrono::milliseconds mean_interval{1000};  // between two beginnings, while there is turbulence
  bool one_at_a_time = false;
  std::chrono::milliseconds rest{0};  // after the end of each, before the next begins
  // Turbulence and calm take turns, so that the clients get on in between.
  std::chrono::milliseconds turbulence{9000};
  std::chrono::milliseconds calm{2500};
};

// Begins with its making. Every kind comes up in its turn: they are dealt like cards, shuffled again when they are out.
class FaultLane {
 public:
  FaultLane(LaneOptions options, std::vector<FaultKind> kinds, FaultLog& log);
  // Stops.
  ~FaultLane();
  FaultLane(const FaultLane&) = delete;
  FaultLane& operator=(const FaultLane&) = delete;

  // No fault begins any more.
  void stop() { thread_.request_stop(); }
  // The same; returns when all have been taken back. Once. The thread stays: processes that it has started would die
  // with it.
  void calm_down();

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    Clock::time_point end;
    std::shared_ptr<Strike> strike;
    Undo undo;
  };

  void run(const std::stop_token& stop);
  void strike(const std::stop_token& stop);
  void take_back(Clock::time_point now);
  const FaultKind& draw();
  Clock::time_point next_time();

  const LaneOptions options_;
  const std::vector<FaultKind> kinds_;
  FaultLog& log_;
  std::mt19937_64 random_;
  const Clock::time_point begun_ = Clock::now();
  std::vector<std::size_t> deck_;
  std::vector<Running> running_;
  Clock::time_point rested_{};
  std::promise<void> calm_;
  std::promise<void> leave_;
  std::jthread thread_;
};

}  // namespace forelock::robustness
