// A LineLimiter passes the first of many similar lines, and now and then another one, with the number of suppressed
// ones.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "lock/engine_types.h"

namespace forelock::client {

// For the ZooKeeper client's own lines, which come several times a second while a server is away. Lines are alike when
// the same function wrote them. Thread-safe.
class LineLimiter {
 public:
  static constexpr std::chrono::seconds interval{30};

  // What is to be logged instead of the line, if anything: without the client's own clock and threads.
  std::optional<std::string> pass(std::string_view line, lock::TimePoint time);

 private:
  struct Kind {
    lock::TimePoint next{};
    std::size_t kept_back = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Kind, std::less<>> kinds_;
};

}  // namespace forelock::client
