// The checks of a fuzz target: a broken promise ends the program, as libFuzzer wants it.
#pragma once

#include "support/standard.h"

namespace forelock::fuzz {

inline void demand(bool promise, const char* what) {
  if (promise) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace forelock::fuzz
