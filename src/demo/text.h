// Numbers and columns as text.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include "demo/wait_log.h"

namespace forelock::demo {

inline std::string left(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

inline std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// Whole milliseconds, rounded.
inline std::string in_ms(Clock::duration duration) {
  return std::to_string(std::chrono::round<std::chrono::milliseconds>(duration).count());
}

// "7.3"
inline std::string in_seconds(Clock::duration duration) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

}  // namespace forelock::demo
