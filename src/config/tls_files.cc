#include "config/tls_files.h"

#include <system_error>
#include <utility>
#include <variant>

#include "config/open_file.h"
#include "config/option_table.h"
#include "config/printable.h"
#include "config/problems.h"
#include "config/setting_file.h"
#include "config/settings_data.h"

namespace forelock::config {
namespace {

constexpr std::size_t largest_pem = 1 << 20;
constexpr std::size_t longest_password = 1024;

std::string open_text(const Settings& settings, OptionId id, const std::filesystem::path& path) {
  if (path.empty()) return {};
  std::variant<std::string, Fault> text;
  try {
    text = OpenFile(path).read(largest_pem);
  } catch (const std::system_error& error) {
    text = Fault{in_quotes(path.native()) + " cannot be read: " + error.code().message(),
                 "check the path and its permissions"};
  }
  return text_of_setting(settings, id, std::move(text), largest_pem, path);
}

std::string secret_text(const Settings& settings, OptionId id, std::size_t limit, std::string_view content) {
  const std::string& name = SettingsData::of(settings).text(id);
  if (name.empty()) return {};
  return text_of_setting(settings, id, read_secret(settings, id, limit, content), limit, name);
}

}  // namespace

TlsTexts read_tls_files(const Settings& settings) {
  const TlsSettings& tls = settings.tls();
  return {
      .authorities = open_text(settings, OptionId::tls_ca_file, tls.ca_file),
      .certificate = open_text(settings, OptionId::tls_certificate_file, tls.certificate_file),
      .key = secret_text(settings, OptionId::tls_key_file, largest_pem, "the private key"),
      .key_password = secret_text(settings, OptionId::tls_key_password_file, longest_password, "the key's password"),
      .revocations = open_text(settings, OptionId::tls_crl_file, tls.crl_file),
  };
}

}  // namespace forelock::config
