// The readable timeline of one schedule. Off unless a failure is being told: nothing is formatted then.
#pragma once

#include "model/timeline.h"

namespace forelock::simulation {

class Trace {
 public:
  explicit Trace(const model::Timeline& timeline) : timeline_(timeline) {}

  void switch_on() { on_ = true; }
  bool on() const { return on_; }
  void add(const std::string& who, const std::string& what);
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  const model::Timeline& timeline_;
  bool on_ = false;
  std::vector<std::string> lines_;
};

}  // namespace forelock::simulation
