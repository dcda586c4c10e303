#include "cli/hints.h"

#include <algorithm>
#include <string_view>

namespace forelock::cli {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-.:@+,/").find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
}

bool is_secret(const Settings& settings, const std::string& key) {
  const auto entries = settings.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&key](const Settings::Entry& entry) { return entry.key == key && entry.secret; });
}

}  // namespace

std::string show_hint(const std::string& monitor) {
  return "forelock show " + std::string(monitor.starts_with('-') ? "-- " : "") + shell_quoted(monitor);
}

std::string dead_letter_hint(const std::string& id) {
  return "forelock dlq show " + std::string(id.starts_with('-') ? "-- " : "") + shell_quoted(id);
}

std::string shell_quoted(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

std::string repeat_words(const GlobalOptions& globals) {
  std::string text;
  if (!globals.config.empty()) text += " --config " + shell_quoted(globals.config);
  if (!globals.zookeeper.empty()) text += " --zookeeper " + shell_quoted(globals.zookeeper);
  const Settings settings = globals.settings();
  for (const std::string& entry : globals.set) {
    const std::string key = entry.substr(0, entry.find('='));
    const std::string value = is_secret(settings, key) ? "…" : entry.substr(key.size() + 1);
    text += " --set " + key + '=' + shell_quoted(value);
  }
  return text;
}

}  // namespace forelock::cli
