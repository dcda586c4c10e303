#include "robustness/runner/fault_lane.h"

#include "robustness/worker/patience.h"

namespace forelock::robustness {

using std::chrono::milliseconds;

FaultLane::FaultLane(LaneOptions options, std::vector<FaultKind> kinds, FaultLog& log)
    : options_(std::move(options)), kinds_(std::move(kinds)), log_(log), random_(options_.seed) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    run(stop);
    calm_.set_value();
    leave_.get_future().wait();
  });
}

FaultLane::~FaultLane() {
  thread_.request_stop();
  leave_.set_value();
}

void FaultLane::calm_down() {
  thread_.request_stop();
  calm_.get_future().wait();
}

void FaultLane::run(const std::stop_token& stop) {
  auto next = next_time();
  while (!stop.stop_requested()) {
    auto due = next;
    for (const Running& each : running_) due = std::min(due, each.end);
    pause(stop, due - Clock::now());
    const auto now = Clock::now();
    take_back(now);
    if (now < next || stop.stop_requested()) continue;
    if (options_.one_at_a_time && !running_.empty()) {
      next = running_.front().end;
      continue;
    }
    if (now < rested_) {
      next = rested_;
      continue;
    }
    strike(stop);
    rested_ = Clock::now() + options_.rest;
    next = next_time();
  }
  take_back(Clock::time_point::max());
}

void FaultLane::strike(const std::stop_token& stop) {
  const FaultKind& kind = draw();
  const auto shortest = static_cast<int>(kind.shortest.count());
  const milliseconds duration(std::uniform_int_distribution(shortest, static_cast<int>(kind.longest.count()))(random_));
  auto strike = std::make_shared<Strike>(kind.name, random_(), duration, log_, stop);
  Undo undo = kind.begin(*strike);
  if (undo) running_.push_back({Clock::now() + duration, std::move(strike), std::move(undo)});
}

void FaultLane::take_back(Clock::time_point now) {
  for (auto each = running_.begin(); each != running_.end();) {
    if (each->end > now) {
      ++each;
      continue;
    }
    each->undo();
    each = running_.erase(each);  // the strike says that it has ended
    rested_ = Clock::now() + options_.rest;
  }
}

const FaultKind& FaultLane::draw() {
  if (deck_.empty()) {
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      deck_.insert(deck_.end(), static_cast<std::size_t>(kinds_[i].weight), i);
    std::shuffle(deck_.begin(), deck_.end(), random_);
  }
  const FaultKind& kind = kinds_[deck_.back()];
  deck_.pop_back();
  return kind;
}

FaultLane::Clock::time_point FaultLane::next_time() {
  const double mean = static_cast<double>(options_.mean_interval.count());
  const auto wait = milliseconds(static_cast<std::int64_t>(std::exponential_distribution<double>(1.0 / mean)(random_)));
  auto time = std::chrono::duration_cast<milliseconds>(Clock::now() - begun_) + wait;
  const milliseconds period = options_.turbulence + options_.calm;
  if (time % period > options_.turbulence) time += period - time % period;
  return begun_ + time;
}

}  // namespace forelock::robustness
