#include "config/yaml_keys.h"

#include <utility>

namespace forelock::config {
namespace {

// Nesting multiplies keys; none of ours is nearly as long.
constexpr std::size_t longest_kept_key = 256;

}  // namespace

void YamlKeys::scalar(const std::string& text, int line) {
  if (open_.empty() || open_.back().passed_over) return;
  Level& level = open_.back();
  if (level.at_key) {
    level.key = level.path.empty() ? text : level.path + '.' + text;
    if (level.key.size() > longest_kept_key) level.key.clear();
    level.line = line;
  } else if (!level.key.empty()) {
    visitor_(level.key, level.line);
  }
  level.at_key = !level.at_key;
}

bool YamlKeys::node() {
  if (open_.empty() || open_.back().passed_over) return false;
  Level& level = open_.back();
  const bool is_key = level.at_key;
  if (is_key) level.key.clear();
  level.at_key = !is_key;
  return !is_key && !level.key.empty();
}

void YamlKeys::begin(bool is_mapping) {
  Level inner;
  if (open_.empty()) {
    inner.passed_over = !is_mapping;
  } else {
    inner.passed_over = !node() || !is_mapping;
    if (!inner.passed_over) inner.path = open_.back().key;
  }
  open_.push_back(std::move(inner));
}

}  // namespace forelock::config
