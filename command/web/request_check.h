// Checks of requests, beyond those of the parser: what could mean two things, or is for another server, is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forelock::web {

// A header that goes on in the next line (obs-fold), which readers take for different things; or a control character.
bool has_doubtful_lines(std::string_view header);

// The names that may stand in a request's Host header, with any port: a page of another site whose name has been made
// to point here (DNS rebinding) sends its own.
class HostNames {
 public:
  // An address as "127.0.0.1" or "::1", or a name; without port, any case.
  void allow(std::string_view name);
  bool allows(std::string_view host_header) const;

 private:
  std::vector<std::string> names_;  // lower case, without brackets
};

struct Target {
  std::vector<std::string> path;  // decoded segments
  std::string query;
};

// A request's target. Nothing if it is not a path, or is one in which a segment is empty (but the last may be), "." or
// "..", also encoded, or has an invalid escape or is not UTF-8.
std::optional<Target> parse_target(std::string_view target);

// "name=value&…", decoded, in order. Nothing if an escape is invalid, it is not UTF-8, or a name comes twice.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

}  // namespace forelock::web
