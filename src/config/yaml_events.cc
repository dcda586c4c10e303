#include "config/yaml_events.h"

#include <utility>

#include "config/option_table.h"
#include "config/printable.h"

namespace forelock::config {
namespace {

// Nesting multiplies keys: without a limit a small file makes very long ones.
constexpr std::size_t longest_key = 1024;

int line_of(const YAML::Mark& mark) {
  return mark.line + 1;
}

}  // namespace

void YamlEvents::OnNull(const YAML::Mark& mark, YAML::anchor_t) {
  if (!open_.empty()) scalar("", line_of(mark));  // else the document is empty
}

void YamlEvents::OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& value) {
  if (open_.empty()) {
    refuse(line_of(mark), "", "the document is a single text", "write 'key: value' lines");
  } else {
    scalar(value, line_of(mark));
  }
}

void YamlEvents::OnAlias(const YAML::Mark& mark, YAML::anchor_t) {
  if (open_.empty() || open_.back().foreign) return;
  Level& level = open_.back();
  if (level.at_key) {
    refuse(line_of(mark), "", "a key that is an alias", "write the key itself");
    level.key.clear();
  } else if (!level.key.empty()) {
    refuse(line_of(mark), level.key, "an alias instead of a value", "write the value itself");
  }
  level.at_key = !level.at_key;
}

void YamlEvents::OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                                 YAML::EmitterStyle::value) {
  collection(false, line_of(mark));
}

void YamlEvents::OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) {
  collection(true, line_of(mark));
}

void YamlEvents::OnSequenceEnd() {
  open_.pop_back();
}

void YamlEvents::OnMapEnd() {
  open_.pop_back();
}

void YamlEvents::scalar(const std::string& text, int line) {
  Level& level = open_.back();
  if (level.foreign) return;
  if (level.at_key) {
    key(text, line);
  } else if (is_own_key(level.key)) {
    value(text);
  }
  level.at_key = !level.at_key;
}

void YamlEvents::key(const std::string& text, int line) {
  Level& level = open_.back();
  level.key = level.path.empty() ? text : level.path + '.' + text;
  level.key_line = line;
  if (text == "<<") {
    refuse(line, level.key, "merging of mappings is not supported", "write the keys themselves");
    level.key.clear();
  } else if (!is_own_key(level.key) && !may_lead_to_own_key(level.key)) {
    level.key.clear();
  } else if (level.key.size() > longest_key) {
    refuse(line, level.key, "the key is too long", "remove it");
    level.key.clear();
  }
}

void YamlEvents::value(const std::string& text) {
  const Level& level = open_.back();
  const auto [seen, is_new] = lines_.try_emplace(level.key, level.key_line);
  if (is_new) {
    properties_.push_back({level.key, text, level.key_line});
  } else {
    refuse(level.key_line, level.key, "appears twice, first in line " + std::to_string(seen->second),
           "keep one of the two");
  }
}

void YamlEvents::collection(bool is_mapping, int line) {
  Level inner;
  inner.foreign = is_passed_over(is_mapping, line);
  if (!inner.foreign && !open_.empty()) inner.path = open_.back().key;
  open_.push_back(std::move(inner));
}

// Whether nothing in the collection that begins here can be ours. Complains where one of our values should be.
bool YamlEvents::is_passed_over(bool is_mapping, int line) {
  if (open_.empty()) {
    if (!is_mapping) refuse(line, "", "the document is a list", "write 'key: value' lines");
    return !is_mapping;
  }
  Level& outer = open_.back();
  if (outer.foreign) return true;
  const bool is_key = outer.at_key;
  outer.at_key = !is_key;
  if (is_key) {
    refuse(line, "", "a key that is not one text", "write a plain key");
    outer.key.clear();
    return true;
  }
  if (outer.key.empty()) return true;
  if (is_mapping && find_option(outer.key) == nullptr) return false;
  if (is_own_key(outer.key)) {
    refuse(line, outer.key, is_mapping ? "a mapping instead of one value" : "a list instead of one value",
           "write one text, with commas between several values");
  }
  return true;
}

void YamlEvents::refuse(int line, const std::string& key, std::string message, std::string hint) {
  problems_.add({file_, line, printable(key), std::move(message), std::move(hint)});
}

}  // namespace forelock::config
