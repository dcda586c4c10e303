// Hides secret values in texts of others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forelock::kafka {

// A value.
class Mask {
 public:
  void add(std::string secret);
  // The text with ****** for each secret in it.
  std::string applied_to(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;  // longest first
};

}  // namespace forelock::kafka
