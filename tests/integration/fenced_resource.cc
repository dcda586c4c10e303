#include "integration/fenced_resource.h"

namespace forelock::test {

std::vector<std::string> FencedResource::overlaps() const {
  const std::lock_guard guard(mutex_);
  return overlaps_;
}

std::size_t FencedResource::stale() const {
  const std::lock_guard guard(mutex_);
  return stale_;
}

std::vector<FencedResource::Visit> FencedResource::visits() const {
  const std::lock_guard guard(mutex_);
  return visits_;
}

std::size_t FencedResource::entered() const {
  const std::lock_guard guard(mutex_);
  return visits_.size();
}

std::string FencedResource::answer(int visitor, const std::string& request) {
  std::istringstream words(request);
  std::string what;
  Visit visit;
  words >> what >> visit.who >> visit.token;
  visit.entered = std::chrono::steady_clock::now();
  if (what == "leave") {
    leave(visitor, false);
    return "ok";
  }
  const std::lock_guard guard(mutex_);
  if (visit.token <= highest_token_) {
    ++stale_;
    return "stale";
  }
  highest_token_ = visit.token;
  for (const auto& [connection, other] : inside_) {
    overlaps_.push_back(visit.who + " (token " + std::to_string(visit.token) + ") entered while " + visits_[other].who +
                        " (token " + std::to_string(visits_[other].token) + ") was inside");
  }
  inside_[visitor] = visits_.size();
  visits_.push_back(std::move(visit));
  return "ok";
}

void FencedResource::leave(int visitor, bool killed) {
  const std::lock_guard guard(mutex_);
  const auto found = inside_.find(visitor);
  if (found == inside_.end()) return;
  Visit& visit = visits_[found->second];
  visit.left = std::chrono::steady_clock::now();
  visit.killed = killed;
  inside_.erase(found);
}

}  // namespace forelock::test
