// A screen that is redrawn, for terminals.
#pragma once

#include <cstddef>

#include "demo/style.h"
#include "demo/view.h"

namespace forelock::demo {

// Writes to standard output. Needs 80 columns. The cursor is hidden between the first frame and the destructor.
class ScreenView : public View {
 public:
  explicit ScreenView(Style style);
  ~ScreenView() override;
  ScreenView(const ScreenView&) = delete;
  ScreenView& operator=(const ScreenView&) = delete;

  std::chrono::milliseconds interval() const override { return std::chrono::milliseconds(125); }
  void show(const Frame& frame) override;
  void finish(const Frame& frame) override;

 private:
  std::string row(const ArticleRow& article) const;

  Style style_;
  std::size_t drawn_ = 0;  // lines of the frame that is on the screen
};

}  // namespace forelock::demo
