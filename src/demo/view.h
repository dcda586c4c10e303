// The display while the load runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "demo/article_store.h"
#include "demo/wait_log.h"
#include "forelock/inspector.h"

namespace forelock::demo {

struct ArticleRow {
  std::string name;
  std::optional<MonitorSummary> seen;   // nothing while it is neither held nor waited for
  std::vector<Clock::duration> recent;  // the last interactive waits, oldest first
};

struct Frame {
  std::string title;
  Clock::duration elapsed{};
  Clock::duration total{};
  std::vector<ArticleRow> articles;
  WaitSummary interactive;
  WaitSummary bulk;
  StoreVerdict store;
};

class View {
 public:
  virtual ~View() = default;
  // How often show() is worth calling.
  virtual std::chrono::milliseconds interval() const = 0;
  virtual void show(const Frame& frame) = 0;
  // The last frame of a phase, which stays on the screen.
  virtual void finish(const Frame& frame) = 0;
};

}  // namespace forelock::demo
