#include "config/doubtful_keys.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cstddef>
#include <sstream>
#include <string>

#include "config/option_table.h"
#include "config/problems.h"
#include "config/properties.h"
#include "config/yaml_keys.h"

namespace forelock::config {
namespace {

constexpr std::size_t most_keys = 100;

}  // namespace

std::vector<Property> doubtful_keys(std::string_view text, Settings::Format format, std::string_view file) {
  std::vector<Property> found;
  const auto look_at = [&found](const std::string& key, int line) {
    if (found.size() < most_keys && looks_like_own_key(key)) found.push_back({key, "", line});
  };
  if (format == Settings::Format::properties) {
    for (const Property& property : parse_properties(text, file)) look_at(property.key, property.line);
    return found;
  }
  try {
    std::istringstream input{std::string(text)};
    YAML::Parser parser(input);
    YamlKeys keys(look_at);
    parser.HandleNextDocument(keys);
  } catch (const YAML::Exception& error) {
    fail(file, 0, "not valid YAML: " + error.msg, "look at the indentation and the quotes");
  }
  return found;
}

}  // namespace forelock::config
