#include "cli/hints.h"

#include <algorithm>

namespace forelock::cli {
namespace {

bool is_secret(const Settings& settings, const std::string& key) {
  const auto entries = settings.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&key](const Settings::Entry& entry) { return entry.key == key && entry.secret; });
}

}  // namespace

std::string show_hint(const std::string& monitor) {
  return "forelock show " + base::shell_argument(monitor);
}

std::string dead_letter_hint(const std::string& id) {
  return "forelock dlq show " + base::shell_argument(id);
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
