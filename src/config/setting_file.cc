#include "config/setting_file.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "config/option_table.h"
#include "config/printable.h"
#include "config/private_file.h"
#include "config/settings_data.h"
#include "forelock/configuration_error.h"

namespace forelock::config {
namespace {

constexpr std::size_t longest_digest = 4096;
constexpr std::size_t longest_password = 1024;

bool is_digest(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < line.size() &&
         std::none_of(line.begin(), line.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

bool is_one_line(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

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

std::variant<std::string, Fault> read_secret(const Settings& settings, OptionId id, std::size_t limit,
                                             std::string_view content) {
  const SettingsData& data = SettingsData::of(settings);
  const std::string* const given = data.secret(id);
  if (given != nullptr) return without_line_end(*given, limit);
  return read_private_file(data.text(id), limit, content);
}

std::variant<std::string, Fault> read_digest(const Settings& settings) {
  constexpr OptionId id = OptionId::auth_digest_file;
  std::variant<std::string, Fault> text = read_secret(settings, id, longest_digest, "the line user:password");
  const std::string* const line = std::get_if<std::string>(&text);
  if (line != nullptr && (line->size() > longest_digest || !is_digest(*line))) {
    return Fault{in_quotes(SettingsData::of(settings).text(id)) + " does not contain one line user:password",
                 "write exactly that one line"};
  }
  return text;
}

std::string read_password(const Settings& settings, OptionId id, std::string_view content) {
  const std::string& name = SettingsData::of(settings).text(id);
  std::variant<std::string, Fault> text = read_secret(settings, id, longest_password, content);
  const std::string* const password = std::get_if<std::string>(&text);
  if (password != nullptr && password->size() <= longest_password && !is_one_line(*password)) {
    text = Fault{in_quotes(name) + " does not contain one line with a password", "write exactly that one line"};
  }
  return text_of_setting(settings, id, std::move(text), longest_password, name);
}

}  // namespace forelock::config
