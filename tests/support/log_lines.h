// A log sink that keeps its lines, "level: message".
#pragma once

#include "support/standard.h"

namespace forelock::test {

// Copies share the lines; the sink may outlive them. Thread-safe.
class LogLines {
 public:
  std::function<void(std::string_view, std::string_view)> sink() const {
    return [kept = kept_](std::string_view level, std::string_view message) {
      const std::lock_guard lock(kept->mutex);
      kept->lines.push_back(std::string(level) + ": " + std::string(message));
    };
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(kept_->mutex);
    return kept_->lines;
  }
  std::string text() const {
    std::string text;
    for (const std::string& line : lines()) text += line + "\n";
    return text;
  }
  std::size_t count() const { return lines().size(); }

 private:
  struct Kept {
    std::mutex mutex;
    std::vector<std::string> lines;
  };
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace forelock::test
