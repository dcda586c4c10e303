// Waiting for something that will come true, instead of sleeping and hoping.
#pragma once

#include "support/standard.h"

namespace forelock::test {

// Asks again and again until the predicate holds (true) or the time is over (false). The pauses grow from 0.1 to 10 ms.
template <typename Predicate>
bool wait_until(Predicate&& predicate, std::chrono::milliseconds timeout = std::chrono::seconds(15)) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::chrono::microseconds pause{100};
  while (!predicate()) {
    if (std::chrono::steady_clock::now() >= deadline) return predicate();
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace forelock::test
