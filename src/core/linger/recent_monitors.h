// RecentMonitors remember monitors with a recent event, each until an instant.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

#include "lock/engine_types.h"

namespace forelock::linger {

// Bounded: beyond the bound the oldest entry is forgotten. Pure; not thread-safe.
class RecentMonitors {
 public:
  explicit RecentMonitors(std::size_t most) : most_(most) {}

  void add(const std::string& monitor, lock::TimePoint until);
  bool contains(const std::string& monitor, lock::TimePoint now) const;
  std::size_t size() const { return by_name_.size(); }

 private:
  struct Entry {
    std::string monitor;
    lock::TimePoint until{};
  };

  const std::size_t most_;
  std::list<Entry> entries_;  // the one that was added first in front
  std::unordered_map<std::string, std::list<Entry>::iterator> by_name_;
};

}  // namespace forelock::linger
