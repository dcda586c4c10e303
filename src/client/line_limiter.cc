#include "client/line_limiter.h"

#include <utility>

namespace forelock::client {
namespace {

// More functions than the client has: what else comes shares one kind.
constexpr std::size_t max_kinds = 64;

struct Line {
  std::string_view function;
  std::string_view text;
};

// "<date>,<ms>:<pid>(<thread>):ZOO_ERROR@<function>@<line>: <text>"
Line parts_of(std::string_view line) {
  const auto first = line.find('@');
  const auto second = first == std::string_view::npos ? first : line.find('@', first + 1);
  const auto colon = second == std::string_view::npos ? second : line.find(": ", second);
  if (colon == std::string_view::npos) return {"", line};
  return {line.substr(first + 1, second - first - 1), line.substr(colon + 2)};
}

}  // namespace

std::optional<std::string> LineLimiter::pass(std::string_view line, lock::TimePoint time) {
  const Line parts = parts_of(line);
  const std::lock_guard guard(mutex_);
  const bool known = kinds_.contains(parts.function);
  Kind& kind = kinds_[known || kinds_.size() < max_kinds ? std::string(parts.function) : std::string()];
  if (time < kind.next) {
    ++kind.kept_back;
    return std::nullopt;
  }
  kind.next = time + interval;
  std::string text = "ZooKeeper client: " + std::string(parts.text);
  if (const std::size_t more = std::exchange(kind.kept_back, 0); more > 0) {
    text += " (and " + std::to_string(more) + " like it since the last such line)";
  }
  return text;
}

}  // namespace forelock::client
