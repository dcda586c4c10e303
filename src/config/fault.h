// Why a value is refused: what is wrong, and what to do.
#pragma once

#include <string>

namespace forelock::config {

struct Fault {
  std::string message;
  std::string hint;
};

}  // namespace forelock::config
