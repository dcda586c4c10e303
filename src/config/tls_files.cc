#include "config/tls_files.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "config/open_file.h"
#include "config/option_table.h"
#include "config/printable.h"
#include "config/private_file.h"
#include "config/problems.h"

namespace forelock::config {
namespace {

constexpr std::size_t largest_pem = 1 << 20;
constexpr std::size_t longest_password = 1024;

using Text = std::variant<std::string, Fault>;

std::string in(const Settings& settings, OptionId id, Text text, std::size_t limit, const std::filesystem::path& path) {
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

std::string open_text(const Settings& settings, OptionId id, const std::filesystem::path& path) {
  if (path.empty()) return {};
  Text text;
  try {
    text = OpenFile(path).read(largest_pem);
  } catch (const std::system_error& error) {
    text = Fault{in_quotes(path.native()) + " cannot be read: " + error.code().message(),
                 "check the path and its permissions"};
  }
  return in(settings, id, std::move(text), largest_pem, path);
}

std::string private_text(const Settings& settings, OptionId id, const std::filesystem::path& path, std::size_t limit,
                         std::string_view content) {
  if (path.empty()) return {};
  return in(settings, id, read_private_file(path, limit, content), limit, path);
}

}  // namespace

TlsTexts read_tls_files(const Settings& settings) {
  const TlsSettings& tls = settings.tls();
  return {
      .authorities = open_text(settings, OptionId::tls_ca_file, tls.ca_file),
      .certificate = open_text(settings, OptionId::tls_certificate_file, tls.certificate_file),
      .key = private_text(settings, OptionId::tls_key_file, tls.key_file, largest_pem, "the private key"),
      .key_password = private_text(settings, OptionId::tls_key_password_file, tls.key_password_file, longest_password,
                                   "the key's password"),
      .revocations = open_text(settings, OptionId::tls_crl_file, tls.crl_file),
  };
}

}  // namespace forelock::config
