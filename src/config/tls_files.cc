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

std::string open_text(const Settings& settings, OptionId id, const std::filesystem::path& path) {
  if (path.empty()) return {};
  std::variant<std::string, Fault> text;
  try {
    const OpenFile file(path, OpenFile::Kind::regular);
    const std::string name = in_quotes(path.native());
    if (!S_ISREG(file.status().st_mode)) {
      text = Fault{name + " is not a regular file", "it is read for each connection: name a file"};
    } else if (std::string all = file.read(largest_pem); all.empty()) {
      text = Fault{name + " is empty", "write it under another name, and rename it"};  // else it would mean "none"
    } else {
      text = std::move(all);
    }
  } catch (const std::system_error& error) {
    text = Fault{in_quotes(path.native()) + " cannot be read: " + error.code().message(),
                 "check the path and its permissions"};
  }
  return text_of_setting(settings, id, std::move(text), largest_pem, path);
}

std::string key_text(const Settings& settings) {
  constexpr OptionId id = OptionId::tls_key_file;
  const std::string& name = SettingsData::of(settings).text(id);
  if (name.empty()) return {};
  return text_of_setting(settings, id, read_secret(settings, id, largest_pem, "the private key"), largest_pem, name);
}

std::string password_text(const Settings& settings) {
  constexpr OptionId id = OptionId::tls_key_password_file;
  if (SettingsData::of(settings).text(id).empty()) return {};
  return read_password(settings, id, "the key's password");
}

}  // namespace

TlsTexts read_tls_files(const Settings& settings) {
  const TlsSettings& tls = settings.tls();
  std::string revocations = open_text(settings, OptionId::tls_crl_file, tls.crl_file);  // before there are secrets
  return {
      .authorities = open_text(settings, OptionId::tls_ca_file, tls.ca_file),
      .certificate = open_text(settings, OptionId::tls_certificate_file, tls.certificate_file),
      .key = key_text(settings),
      .key_password = password_text(settings),
      .revocations = std::move(revocations),
  };
}

}  // namespace forelock::config
