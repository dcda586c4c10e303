// One key of a configuration file, its value, and the line where it begins.
#pragma once

#include <string>

namespace forelock::config {

struct Property {
  std::string key;    // UTF-8
  std::string value;  // UTF-8
  int line = 0;       // 1-based

  friend bool operator==(const Property&, const Property&) = default;
};

}  // namespace forelock::config
