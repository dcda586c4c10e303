#include "kafka/place.h"

#include <charconv>
#include <cstddef>
#include <utility>

#include "config/printable.h"

namespace forelock::kafka {

ConfigurationProblem Place::problem(std::string message, std::string hint) const {
  return {file, line, config::printable(key), std::move(message), std::move(hint)};
}

Place place_of(const Settings::Entry& entry) {
  Place place{entry.key, entry.origin, 0};
  const std::size_t colon = entry.origin.rfind(':');
  if (colon == std::string::npos) return place;
  const char* const begin = entry.origin.data() + colon + 1;
  const char* const end = entry.origin.data() + entry.origin.size();
  int line = 0;
  const auto [behind, error] = std::from_chars(begin, end, line);
  if (error != std::errc() || behind != end || line <= 0) return place;
  place.file.resize(colon);
  place.line = line;
  return place;
}

}  // namespace forelock::kafka
