#include "config/value_parser.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>

#include "config/option_table.h"
#include "config/printable.h"
#include "config/property.h"
#include "config/quantity.h"
#include "config/server_list.h"

namespace forelock::config {
namespace {

using Result = std::variant<ParsedValue, Fault>;

constexpr std::size_t longest_prefix = 64;
constexpr std::size_t longest_topic = 240;  // Kafka's 249, less ".resolved"
constexpr std::string_view lock_node = "privateLock";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Result in_range(const Option& option, std::string_view text, std::optional<std::int64_t> number, const char* what,
                const char* hint) {
  if (!number) return Fault{in_quotes(text) + " is not " + what, hint};
  if (*number < option.min || *number > option.max) {
    return Fault{in_quotes(text) + " is out of range", "choose a value from " + range_of(option)};
  }
  return ParsedValue{std::to_string(*number), *number};
}

Result parse_servers(std::string_view text) {
  std::variant<ServerList, Fault> list = parse_server_list(text);
  if (Fault* fault = std::get_if<Fault>(&list)) return std::move(*fault);
  return ParsedValue{std::get<ServerList>(list).to_string()};
}

// A contender's node is PREFIX-0000000007: the '-' must be the only one, or the name could be read in two ways.
Result parse_prefix(std::string_view text) {
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~' && c != '/' && c != '-'; });
  if (text.empty() || text.size() > longest_prefix || !is_plain) {
    return Fault{in_quotes(text) + " cannot begin a node's name",
                 "write 1 to 64 ASCII characters, no blank, '-' or '/', such as A"};
  }
  if (lock_node.starts_with(text)) {
    return Fault{in_quotes(text) + " is the beginning of the reserved name privateLock",
                 "choose another letter, such as A"};
  }
  return ParsedValue{std::string(text)};
}

Result parse_topic(std::string_view text) {
  const bool is_legal = std::all_of(text.begin(), text.end(),
                                    [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
  if (text.empty() || text.size() > longest_topic || !is_legal || text == "." || text == "..") {
    return Fault{in_quotes(text) + " is not a Kafka topic's name", "write 1 to 240 letters, digits, '.', '_' or '-'"};
  }
  return ParsedValue{std::string(text)};
}

Result parse_path(std::string_view text) {
  if (text.starts_with('~') || text.starts_with('$')) {
    return Fault{in_quotes(text) + " is not expanded", "write the whole path"};
  }
  if (text.ends_with('/')) return Fault{in_quotes(text) + " is a folder", "write the path of a file"};
  return ParsedValue{std::string(text)};
}

// Certificates are compared with them: what would mean more than one name there is none here.
Result parse_names(std::string_view text) {
  std::string names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view name = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool legal = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return (c < 0x80 && std::isalnum(c) != 0) || c == '-' || c == '.' || c == '_' || c == ':';
    });
    if (name.empty() || !legal || name.front() == '.' || name.front() == '-') {
      return Fault{in_quotes(name) + " is no name of a host", "write whole names or addresses, separated by commas"};
    }
    names += (names.empty() ? "" : ",") + std::string(name);
  }
  return ParsedValue{names};
}

Result parse_choice(const Option& option, std::string_view text) {
  std::int64_t index = 0;
  for (std::string_view rest = option.choices; !rest.empty(); ++index) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    if (text == rest.substr(0, end)) return ParsedValue{std::string(text), index};
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return Fault{in_quotes(text) + " is not known", "write " + range_of(option)};
}

}  // namespace

Result parse_value(const Option& option, std::string_view text) {
  text = trimmed(text);
  // Everything here ends up in C strings sooner or later.
  if (text.find('\0') != std::string_view::npos) return Fault{"the value has a NUL character", "remove it"};
  switch (option.type) {
    case OptionType::servers:
      return parse_servers(text);
    case OptionType::number:
      return in_range(option, text, parse_number(text), "a whole number", "write digits only");
    case OptionType::duration: {
      const auto duration = parse_duration(text);
      return in_range(option, text, duration ? std::optional(duration->count()) : std::nullopt, "a duration",
                      "write milliseconds, or a unit such as 250ms, 2s or 5m");
    }
    case OptionType::size:
      return in_range(option, text, parse_size(text), "a size", "write bytes, or a unit such as 64KiB, 256MiB or 1GiB");
    case OptionType::prefix:
      return parse_prefix(text);
    case OptionType::topic:
      return parse_topic(text);
    case OptionType::path:
      return parse_path(text);
    case OptionType::choice:
      return parse_choice(option, text);
    case OptionType::names:
      return parse_names(text);
    case OptionType::text:
      break;
  }
  return ParsedValue{std::string(text)};
}

}  // namespace forelock::config
