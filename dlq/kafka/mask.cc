#include "kafka/mask.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "config/secret.h"

namespace forelock::kafka {

void Mask::add(std::string secret) {
  if (secret.empty()) return;
  secrets_.push_back(std::move(secret));
  std::stable_sort(secrets_.begin(), secrets_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Mask::applied_to(std::string_view text) const {
  std::string masked;
  while (!text.empty()) {
    const auto secret = std::find_if(secrets_.begin(), secrets_.end(),
                                     [text](const std::string& value) { return text.starts_with(value); });
    if (secret == secrets_.end()) {
      masked += text.front();
      text.remove_prefix(1);
    } else {
      masked += config::mask;
      text.remove_prefix(secret->size());
    }
  }
  return masked;
}

}  // namespace forelock::kafka
