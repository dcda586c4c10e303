#include "config/setting_file.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "config/option_table.h"
#include "config/printable.h"
#include "config/private_file.h"
#include "forelock/configuration_error.h"

namespace forelock::config {
namespace {

constexpr std::size_t longest_sasl_password = 1024;

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

std::string read_sasl_password(const Settings& settings) {
  const std::filesystem::path& path = settings.sasl().password_file;
  std::variant<std::string, Fault> text = read_private_file(path, longest_sasl_password, "the user's password");
  const std::string* const password = std::get_if<std::string>(&text);
  if (password != nullptr && password->size() <= longest_sasl_password && !is_one_line(*password)) {
    text =
        Fault{in_quotes(path.native()) + " does not contain one line with a password", "write exactly that one line"};
  }
  return text_of_setting(settings, OptionId::sasl_password_file, std::move(text), longest_sasl_password, path);
}

}  // namespace forelock::config
