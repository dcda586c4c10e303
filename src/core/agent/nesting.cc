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

std::vector<Nesting::Pair> Nesting::take_due(lock::TimePoint now) {
  std::vector<Pair> pairs;
  for (; !due_.empty() && due_.begin()->first <= now; due_.erase(due_.begin())) pairs.push_back(due_.begin()->second);
  return pairs;
}

void Nesting::look_again(const Pair& pair, lock::TimePoint due) {
  const auto found = outer_of_.find(pair.inner);
  if (found == outer_of_.end()) return;
  const auto& outer_ones = found->second;
  if (std::find(outer_ones.begin(), outer_ones.end(), pair.outer) != outer_ones.end()) due_.insert({due, pair});
}

}  // namespace forelock::agent
