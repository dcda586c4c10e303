#include "config/setting_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/option_table.h"
#include "config/printable.h"
#include "forelock/configuration_error.h"

namespace forelock::config {

std::string text_of_setting(const Settings& settings, OptionId id, std::variant<std::string, Fault> text,
                            std::size_t limit, const std::filesystem::path& path) {
  if (const auto* fits = std::get_if<std::string>(&text); fits != nullptr && fits->size() > limit) {
    text = Fault{in_quotes(path.native()) + " is larger than " + std::to_string(limit) + " bytes", "is it that file?"};
  }
  Fault* const fault = std::get_if<Fault>(&text);
  if (fault == nullptr) return std::get<std::string>(std::move(text));
  const std::string key(option(id).key);
  const std::vector<Settings::Entry> entries = settings.entries();
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto& each) { return each.key == key; });
  throw ConfigurationException({{entry->origin, 0, key, std::move(fault->message), std::move(fault->hint)}});
}

}  // namespace forelock::config
