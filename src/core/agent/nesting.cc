#include "agent/nesting.h"

namespace forelock::agent {

using lock::ContenderId;

void Nesting::add(ContenderId inner, std::vector<Outer> outer_ones, lock::TimePoint due) {
  if (waits_.emplace(inner, Wait{std::move(outer_ones), due}).second) due_.emplace(due, inner);
}

void Nesting::remove(ContenderId inner) {
  const auto wait = waits_.extract(inner);
  if (wait) due_.erase({wait.mapped().due, inner});
}

std::vector<ContenderId> Nesting::take_due(lock::TimePoint now, lock::TimePoint next) {
  std::vector<ContenderId> inner_ones;
  for (; !due_.empty() && due_.begin()->first <= now; due_.erase(due_.begin())) {
    inner_ones.push_back(due_.begin()->second);
  }
  for (const ContenderId inner : inner_ones) {
    waits_.at(inner).due = next;
    due_.emplace(next, inner);
  }
  return inner_ones;
}

std::vector<Nesting::Outer> Nesting::outer_ones(ContenderId inner) const {
  const auto wait = waits_.find(inner);
  return wait == waits_.end() ? std::vector<Outer>() : wait->second.outer_ones;
}

}  // namespace forelock::agent
