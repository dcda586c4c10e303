#include "forelock/settings.h"

#include <system_error>
#include <utility>
#include <variant>

#include "config/open_file.h"
#include "config/option_table.h"
#include "config/printable.h"
#include "config/problems.h"
#include "config/setting_file.h"
#include "config/settings_builder.h"
#include "config/settings_data.h"

namespace forelock {
namespace {

using config::OptionId;

Settings::Format format_of(const std::filesystem::path& path) {
  const std::string extension = path.extension().native();
  if (extension == ".properties") return Settings::Format::properties;
  if (extension == ".yaml" || extension == ".yml") return Settings::Format::yaml;
  config::fail(path.native(), 0, "not a kind of file that is known", "name it .properties, .yaml or .yml");
}

std::string text_of(const std::filesystem::path& path) {
  try {
    return config::OpenFile(path).read(config::largest_file);
  } catch (const std::system_error& error) {
    config::fail(path.native(), 0, "cannot be read: " + error.code().message(), "check the path and its permissions");
  }
}

void add_all(config::SettingsBuilder& builder, const std::vector<Settings::Override>& overrides) {
  for (const Settings::Override& override : overrides) builder.add_override(override);
}

Settings::Entry entry_of(const std::string& key, const std::string& value, const std::string& origin) {
  const bool secret = config::is_secret(key) && !value.empty();
  return {key, secret ? std::string(config::mask) : value, origin, secret};
}

}  // namespace

const std::string* config::SettingsData::secret(OptionId id) const {
  const auto found = given.find(std::string(option(id).key));
  return found == given.end() ? nullptr : found->second.secret.get();
}

std::filesystem::path config::SettingsData::file(OptionId id) const {
  return secret(id) != nullptr ? std::string() : text(id);
}

const config::SettingsData& config::SettingsData::of(const Settings& settings) {
  return *settings.data_;
}

Settings::Settings() : data_(config::SettingsBuilder().build()) {}

Settings::Settings(std::shared_ptr<const config::SettingsData> data) noexcept : data_(std::move(data)) {}

Settings Settings::load(const std::filesystem::path& path, const std::vector<Override>& overrides) {
  const std::string text = text_of(path);  // of a file that is missing its name is not what is wrong
  return from_string(text, format_of(path), path.native(), overrides);
}

Settings Settings::from_string(std::string_view text, Format format, std::string_view name,
                               const std::vector<Override>& overrides) {
  config::SettingsBuilder builder;
  builder.add_text(text, format, name);
  add_all(builder, overrides);
  return Settings(builder.build());
}

void Settings::set(std::string_view key, std::string_view value, std::string_view origin) {
  set({{std::string(key), std::string(value), std::string(origin)}});
}

void Settings::set(const std::vector<Override>& overrides) {
  config::SettingsBuilder builder(*data_);
  add_all(builder, overrides);
  data_ = builder.build();
}

const std::vector<ServerAddress>& Settings::servers() const noexcept {
  return data_->servers.servers;
}

const std::string& Settings::chroot() const noexcept {
  return data_->servers.chroot;
}

std::chrono::milliseconds Settings::session_timeout() const noexcept {
  return std::chrono::milliseconds(data_->number(OptionId::session_timeout));
}

const std::filesystem::path& Settings::session_file() const noexcept {
  return data_->session_file;
}

int Settings::connection_retry() const noexcept {
  return static_cast<int>(data_->number(OptionId::connection_retry));
}

std::chrono::milliseconds Settings::connection_delay() const noexcept {
  return std::chrono::milliseconds(data_->number(OptionId::connection_delay));
}

const std::string& Settings::foreground_prefix() const noexcept {
  return prefix(Priority::foreground);
}

const std::string& Settings::background_prefix() const noexcept {
  return prefix(Priority::background);
}

const std::string& Settings::prefix(Priority priority) const noexcept {
  return data_->text(config::prefix_option(priority));
}

std::chrono::milliseconds Settings::timeout(Priority priority) const noexcept {
  return std::chrono::milliseconds(data_->number(config::timeout_option(priority)));
}

std::chrono::milliseconds Settings::background_max_wait() const noexcept {
  return std::chrono::milliseconds(data_->number(OptionId::background_max_wait));
}

std::chrono::milliseconds Settings::monitor_linger() const noexcept {
  return std::chrono::milliseconds(data_->number(OptionId::monitor_linger));
}

Admission Settings::admission() const noexcept {
  return data_->text(OptionId::admission) == "refuse" ? Admission::refuse : Admission::off;
}

std::size_t Settings::queue_max() const noexcept {
  return static_cast<std::size_t>(data_->number(OptionId::queue_max));
}

WatchMode Settings::watch_mode() const noexcept {
  return data_->text(OptionId::watch) == "parent" ? WatchMode::parent : WatchMode::predecessor;
}

std::chrono::milliseconds Settings::linger() const noexcept {
  return std::chrono::milliseconds(data_->number(OptionId::linger));
}

std::size_t Settings::linger_max() const noexcept {
  return static_cast<std::size_t>(data_->number(OptionId::linger_max));
}

bool Settings::linger_reused() const noexcept {
  return data_->text(OptionId::linger_reused) == "true";
}

std::chrono::milliseconds Settings::release_delay() const noexcept {
  return std::chrono::milliseconds(data_->number(OptionId::release_delay));
}

const std::filesystem::path& Settings::trace_file() const noexcept {
  return data_->trace_file;
}

bool Settings::trace_monitors() const noexcept {
  return data_->text(OptionId::trace_monitors) == "true";
}

const std::filesystem::path& Settings::auth_digest_file() const noexcept {
  return data_->auth_digest_file;
}

const TlsSettings& Settings::tls() const noexcept {
  return data_->tls;
}

const SaslSettings& Settings::sasl() const noexcept {
  return data_->sasl;
}

AclMode Settings::acl() const noexcept {
  return data_->text(OptionId::acl) == "open" ? AclMode::open : AclMode::creator_all;
}

int Settings::request_retry_count() const noexcept {
  return static_cast<int>(data_->number(OptionId::request_retry_count));
}

const std::string& Settings::dlq_topic() const noexcept {
  return data_->text(OptionId::dlq_topic);
}

const std::filesystem::path& Settings::outbox_path() const noexcept {
  return data_->outbox_path;
}

std::int64_t Settings::outbox_max_bytes() const noexcept {
  return data_->number(OptionId::outbox_max_bytes);
}

const std::map<std::string, std::string>& Settings::kafka() const noexcept {
  return data_->kafka;
}

std::string Settings::load_digest() const {
  if (data_->text(OptionId::auth_digest_file).empty()) return "";
  std::variant<std::string, config::Fault> digest = config::read_digest(*this);
  if (config::Fault* fault = std::get_if<config::Fault>(&digest)) {
    // The path is never empty by default, so the setting was given somewhere.
    const config::Given& given = data_->given.at(std::string(config::option(OptionId::auth_digest_file).key));
    throw ConfigurationException(
        {{given.source, given.line, given.spelling, std::move(fault->message), std::move(fault->hint)}});
  }
  return std::get<std::string>(std::move(digest));
}

const std::vector<ConfigurationProblem>& Settings::doubts() const noexcept {
  return data_->doubts;
}

std::vector<Settings::Entry> Settings::entries() const {
  std::vector<Entry> entries;
  const auto origin = [this](const std::string& key) {
    const auto given = data_->given.find(key);
    return given == data_->given.end() ? std::string("default") : given->second.origin();
  };
  for (const config::Option& option : config::options()) {
    const std::string key(option.key);
    entries.push_back(entry_of(key, data_->text(option.id), origin(key)));
    const auto given = data_->given.find(key);
    if (given == data_->given.end() || !given->second.secret) continue;
    entries.back().value = config::mask;
    entries.back().secret = true;
  }
  for (const auto& [key, given] : data_->given) {
    if (config::find_option(key) == nullptr) entries.push_back(entry_of(key, given.value.text, given.origin()));
  }
  return entries;
}

}  // namespace forelock
