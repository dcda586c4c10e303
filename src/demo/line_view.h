// A line a second, for logs and everything else that is no terminal.
#pragma once

#include "demo/view.h"

namespace forelock::demo {

class LineView : public View {
 public:
  std::chrono::milliseconds interval() const override { return std::chrono::seconds(1); }
  void show(const Frame& frame) override;
  void finish(const Frame& frame) override;
};

}  // namespace forelock::demo
