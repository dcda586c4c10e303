#include "config/doubtful_keys.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cstddef>
#include <sstream>
#include <string>

#include "config/option_table.h"
#include "config/printable.h"
#include "config/problems.h"
#include "config/properties.h"
#include "config/yaml_keys.h"

namespace forelock::config {
namespace {

constexpr std::size_t most_keys = 100;

}  // namespace

std::vector<ConfigurationProblem> doubtful_keys(std::string_view text, Settings::Format format, std::string_view file) {
  std::vector<ConfigurationProblem> found;
  const auto look_at = [&found, file](const std::string& key, int line) {
    if (found.size() >= most_keys || !looks_like_own_key(key)) return;
    const std::string_view nearest = nearest_key(key);
    found.push_back({std::string(file), line, printable(key),
                     "is left to the application, but looks like a key of ours",
                     nearest.empty() ? "" : "is " + std::string(nearest) + " meant?"});
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
