// The options of `forelock bench`.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace forelock::cli {

struct BenchOptions {
  std::vector<std::string> workloads;  // all of them if empty
  std::size_t threads = 8;
  std::size_t processes = 4;
  std::vector<std::size_t> monitors = {64, 1000};
  std::optional<std::size_t> waiters;
  std::chrono::milliseconds hold{5};
  std::chrono::milliseconds duration{200};  // of one lock in one round
  std::size_t rounds = 3;
};

}  // namespace forelock::cli
