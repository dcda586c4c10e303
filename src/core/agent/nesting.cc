#include "agent/nesting.h"

#include <algorithm>

namespace forelock::agent {

using lock::ContenderId;

namespace {

using Relation = std::unordered_map<ContenderId, std::vector<ContenderId>>;

void forget(Relation& relation, ContenderId from, ContenderId to) {
  const auto found = relation.find(from);
  if (found == relation.end()) return;
  std::erase(found->second, to);
  if (found->second.empty()) relation.erase(found);
}

}  // namespace

void Nesting::add(ContenderId inner, ContenderId outer, lock::TimePoint due) {
  std::vector<ContenderId>& outer_ones = outer_of_[inner];
  if (std::find(outer_ones.begin(), outer_ones.end(), outer) != outer_ones.end()) return;
  outer_ones.push_back(outer);
  inner_of_[outer].push_back(inner);
  due_.insert({due, {inner, outer}});
}

void Nesting::remove(ContenderId contender) {
  if (outer_of_.empty()) return;
  if (const auto as_inner = outer_of_.extract(contender)) {
    for (const ContenderId outer : as_inner.mapped()) forget(inner_of_, outer, contender);
  }
  if (const auto as_outer = inner_of_.extract(contender)) {
    for (const ContenderId inner : as_outer.mapped()) forget(outer_of_, inner, contender);
  }
  std::erase_if(due_, [contender](const auto& entry) {
    return entry.second.inner == contender || entry.second.outer == contender;
  });
}

std::vector<ContenderId> Nesting::inside(ContenderId outer) const {
  const auto found = inner_of_.find(outer);
  return found == inner_of_.end() ? std::vector<ContenderId>() : found->second;
}

std::vector<ContenderId> Nesting::take_due(lock::TimePoint now) {
  std::vector<ContenderId> outer_ones;
  for (; !due_.empty() && due_.begin()->first <= now; due_.erase(due_.begin())) {
    outer_ones.push_back(due_.begin()->second.outer);
  }
  return outer_ones;
}

}  // namespace forelock::agent
