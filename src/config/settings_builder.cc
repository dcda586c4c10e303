#include "config/settings_builder.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/doubtful_keys.h"
#include "config/encoding.h"
#include "config/option_table.h"
#include "config/printable.h"
#include "config/problems.h"
#include "config/properties.h"
#include "config/yaml_properties.h"

namespace forelock::config {
namespace {

// A relative path is to be ignored, says the XDG Base Directory Specification; a relative home is of no more use.
std::string absolute_from_environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets variables
  return value != nullptr && *value == '/' ? value : "";
}

std::string home_of_user() {
  std::vector<char> buffer(16'384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return "";
  return entry.pw_dir != nullptr && *entry.pw_dir == '/' ? entry.pw_dir : "";
}

// $XDG_STATE_HOME/forelock/outbox.db, or ~/.local/state/forelock/outbox.db. Empty when there is no home folder.
std::string default_outbox_path() {
  std::string state = absolute_from_environment("XDG_STATE_HOME");
  if (state.empty()) {
    std::string home = absolute_from_environment("HOME");
    if (home.empty()) home = home_of_user();
    if (home.empty()) return "";
    state = home + "/.local/state";
  }
  return state + "/forelock/outbox.db";
}

#ifdef FORELOCK_TLS
// The settings that need others of TLS, and which.
constexpr std::pair<OptionId, OptionId> tls_needs[] = {
    {OptionId::tls_certificate_file, OptionId::tls_ca_file},  {OptionId::tls_certificate_file, OptionId::tls_key_file},
    {OptionId::tls_key_file, OptionId::tls_certificate_file}, {OptionId::tls_key_password_file, OptionId::tls_key_file},
    {OptionId::tls_server_names, OptionId::tls_ca_file},      {OptionId::tls_min_version, OptionId::tls_ca_file},
    {OptionId::tls_crl_file, OptionId::tls_ca_file},
};
#endif

// The option that names a file with this secret.
const Option* file_of_secret(std::string_view key) {
  for (const OptionId id : {OptionId::auth_digest_file, OptionId::tls_key_file, OptionId::tls_key_password_file,
                            OptionId::sasl_password_file}) {
    if (option(id).key == std::string(key) + ".file") return &option(id);
  }
  return nullptr;
}

// What the table says, or what is found at run time.
ParsedValue fallback_of(const Option& option) {
  if (option.fallback.empty()) return {};
  return std::get<ParsedValue>(parse_value(option, option.fallback));
}

}  // namespace

void SettingsBuilder::add_text(std::string_view text, Settings::Format format, std::string_view file) {
  if (text.size() > largest_file) fail(file, 0, "the file is larger than 1 MiB", "is it the right file?");
  if (format == Settings::Format::yaml) {
    for (const Property& property : parse_yaml(text, file, problems_)) {
      assign(property.key, property.value, file, property.line, Strangers::left_alone);
    }
    doubts_ = doubtful_keys(text, format, file);
    return;
  }
  for (const Property& property : parse_properties(text, file)) {
    // Java makes the mark a part of the key, so the key would silently be a foreign one.
    if (property.key.starts_with(byte_order_mark) && is_own_key(property.key.substr(byte_order_mark.size()))) {
      problems_.add({std::string(file), property.line, printable(property.key.substr(byte_order_mark.size())),
                     "the file begins with a byte order mark, which spoils its first key",
                     "save it as UTF-8 without one"});
    }
    assign(property.key, property.value, file, property.line, Strangers::left_alone);
  }
  doubts_ = doubtful_keys(text, format, file);
}

void SettingsBuilder::add_override(const Settings::Override& override) {
  assign(override.key, override.value, override.origin, 0, Strangers::refused);
}

void SettingsBuilder::assign(const std::string& spelling, const std::string& text, std::string_view source, int line,
                             Strangers strangers) {
  Given given{spelling, {text}, std::string(source), line, nullptr};
  if (const Option* file = line == 0 && !source.starts_with('-') ? file_of_secret(spelling) : nullptr) {
    assign_secret(*file, std::move(given));  // a program's own: neither in a file nor on a command line
  } else if (const Option* option = find_option(spelling)) {
    assign_option(*option, std::move(given));
  } else {
    assign_without_option(std::move(given), strangers);
  }
}

void SettingsBuilder::assign_secret(const Option& option, Given given) {
  given.secret = std::make_shared<const std::string>(std::exchange(given.value.text, given.spelling));
  given.spelling = std::string(option.key);
  assign_option(option, std::move(given));
}

void SettingsBuilder::assign_without_option(Given given, Strangers strangers) {
  const std::string key = given.spelling;
  if (!key.starts_with(kafka_prefix)) {
    if (problems_.full() || (strangers == Strangers::left_alone && !is_own_key(key))) return;
    // Names by which TLS and SASL to ZooKeeper are asked for elsewhere: a connection without them must not begin.
    if (key.starts_with("zookeeper.client.secure") || key.starts_with("zookeeper.ssl")) {
      refuse(given, "TLS to ZooKeeper is not asked for by this key", "use zookeeper.tls.ca.file and those beside it");
      return;
    }
    if (key.starts_with("zookeeper.sasl") && !nearest_key(key).starts_with("zookeeper.sasl.")) {
      refuse(given, "SASL to ZooKeeper is not asked for by this key",
             "use zookeeper.sasl.mechanism and those beside it");
      return;
    }
    const std::string_view nearest = nearest_key(key);
    refuse(given, "unknown key",
           nearest.empty() ? "forelock config lists those that exist"
                           : "the nearest known key is " + std::string(nearest));
  } else if (key.size() == kafka_prefix.size()) {
    refuse(given, "names no setting of Kafka", "write one behind the dot, or remove the line");
  } else if ((key + given.value.text).find('\0') != std::string::npos) {
    refuse(given, "has a NUL character", "remove it");
  } else {
    given_[key] = std::move(given);
  }
}

void SettingsBuilder::assign_option(const Option& option, Given given) {
  std::variant<ParsedValue, Fault> value = parse_value(option, given.value.text);
  if (Fault* fault = std::get_if<Fault>(&value)) {
    refused_[static_cast<std::size_t>(option.id)] = true;
    refuse(given, std::move(fault->message), std::move(fault->hint));
    return;
  }
  given.value = std::get<ParsedValue>(std::move(value));
  const auto earlier = given_.find(std::string(option.key));
  if (earlier != given_.end() && earlier->second.source == given.source && earlier->second.spelling != given.spelling &&
      earlier->second.value.text != given.value.text) {
    refuse(given,
           in_quotes(given.value.text) + " contradicts " + earlier->second.spelling + " = " +
               in_quotes(earlier->second.value.text) + " (" + earlier->second.origin() + ")",
           "keep one of the two spellings");
    return;
  }
  given_[std::string(option.key)] = std::move(given);
}

void SettingsBuilder::refuse(const Given& given, std::string message, std::string hint) {
  problems_.add({given.source, given.line, printable(given.spelling), std::move(message), std::move(hint)});
}

std::shared_ptr<const SettingsData> SettingsBuilder::build() {
  std::shared_ptr<SettingsData> data = with_defaults();
  check_prefixes(*data);
  check_acl(*data);
  check_tls(*data);
  check_sasl(*data);
  problems_.throw_if_any();

  data->doubts = doubts_;
  doubt_ageing(*data);
  data->servers = std::get<ServerList>(parse_server_list(data->text(OptionId::servers)));
  data->session_file = data->text(OptionId::session_file);
  data->outbox_path = data->text(OptionId::outbox_path);
  data->trace_file = data->text(OptionId::trace_file);
  data->auth_digest_file = data->file(OptionId::auth_digest_file);
  data->tls = tls_settings(*data);
  data->sasl = sasl_settings(*data);
  for (const auto& [key, given] : given_) {
    if (key.starts_with(kafka_prefix)) data->kafka[key.substr(kafka_prefix.size())] = given.value.text;
  }
  if (data->text(OptionId::kafka_servers).empty()) data->kafka.erase("bootstrap.servers");
  return data;
}

// It would take longer than anyone waits.
void SettingsBuilder::doubt_ageing(SettingsData& data) const {
  const Given* const max_wait = given(OptionId::background_max_wait);
  if (max_wait == nullptr) return;
  std::erase_if(data.doubts, [&](const auto& earlier) { return earlier.key == printable(max_wait->spelling); });
  const std::int64_t timeout = data.number(OptionId::background_timeout);
  if (max_wait->value.number < timeout) return;
  data.doubts.push_back({max_wait->source, max_wait->line, printable(max_wait->spelling),
                         in_quotes(max_wait->value.text) + " is not less than the " + std::to_string(timeout) +
                             " ms that background work waits, so it never ages",
                         "raise zookeeper.backgound.task.timeout to four times this"});
}

std::shared_ptr<SettingsData> SettingsBuilder::with_defaults() const {
  auto data = std::make_shared<SettingsData>();
  data->given = given_;
  const auto value = [&data](OptionId id) -> ParsedValue& { return data->values[static_cast<std::size_t>(id)]; };
  for (const Option& option : options()) {
    const Given* const known = given(option.id);
    value(option.id) = known != nullptr ? known->value : fallback_of(option);
  }
  if (value(OptionId::outbox_path).text.empty()) value(OptionId::outbox_path).text = default_outbox_path();
  if (given(OptionId::acl) == nullptr) {
    const bool has_credentials =
        !data->text(OptionId::auth_digest_file).empty() || !data->text(OptionId::sasl_mechanism).empty();
    value(OptionId::acl) =
        std::get<ParsedValue>(parse_value(option(OptionId::acl), has_credentials ? "creator-all" : "open"));
  }
  return data;
}

void SettingsBuilder::check_prefixes(const SettingsData& data) {
  for (std::size_t i = 1; i < all_priorities.size(); ++i) {
    check_prefixes(data, all_priorities[i - 1], all_priorities[i]);
  }
}

// Contenders sort by prefix here, and by the whole name (prefix, '-', number) in third-party clients: both orders must
// have the more urgent class first.
void SettingsBuilder::check_prefixes(const SettingsData& data, Priority first, Priority second) {
  const OptionId first_id = prefix_option(first);
  const OptionId second_id = prefix_option(second);
  const auto refused = [this](OptionId id) { return refused_[static_cast<std::size_t>(id)]; };
  if (refused(first_id) || refused(second_id)) return;
  const std::string& before = data.text(first_id);
  const std::string& after = data.text(second_id);
  if (before < after && before + '-' < after + '-') return;
  const Given* const other = given(first_id);
  const Given* const own = given(second_id);
  const Given* const place = own != nullptr ? own : other;
  if (place == nullptr) return;  // the defaults do sort
  const auto named = [](Priority priority, const std::string& prefix, const Given* from) {
    return "the " + std::string(name_of(priority)) + " prefix " + in_quotes(prefix) + " (" +
           (from != nullptr ? from->origin() : "default") + ")";
  };
  refuse(*place, named(second, after, own) + " does not sort after " + named(first, before, other),
         "choose two letters in the order of the alphabet, such as A and B");
}

void SettingsBuilder::check_acl(const SettingsData& data) {
  const Given* const acl = given(OptionId::acl);
  if (acl == nullptr || acl->value.text != "creator-all") return;
  for (const OptionId id : {OptionId::auth_digest_file, OptionId::sasl_mechanism}) {
    if (!data.text(id).empty() || refused_[static_cast<std::size_t>(id)]) return;
  }
  refuse(*acl, "creator-all needs credentials",
         "set " + std::string(option(OptionId::auth_digest_file).key) + " or zookeeper.sasl.mechanism too");
}

void SettingsBuilder::check_tls(const SettingsData& data) {
#ifdef FORELOCK_TLS
  for (const auto& [id, needed] : tls_needs) {
    const Given* const own = given(id);
    if (own == nullptr || own->value.text.empty() || !data.text(needed).empty()) continue;
    if (refused_[static_cast<std::size_t>(needed)]) continue;
    refuse(*own, "does nothing without " + std::string(option(needed).key), "set that too");
  }
  // As a template leaves them whose variable is not set: the connection would be plain, or nothing revoked.
  for (const OptionId id : {OptionId::tls_ca_file, OptionId::tls_crl_file}) {
    const Given* const own = given(id);
    if (own != nullptr && own->value.text.empty()) refuse(*own, "is empty", "remove the line, or name the file");
  }
#else
  static_cast<void>(data);
  for (const Option& each : options()) {
    const Given* const own = given(each.id);
    if (own == nullptr || !each.key.starts_with("zookeeper.tls.")) continue;
    refuse(*own, "this build cannot speak TLS to ZooKeeper",
           "run scripts/zookeeper_client.sh, and build again with OpenSSL: docs/operating.md, TLS");
  }
#endif
}

// What does nothing was meant for something.
void SettingsBuilder::check_sasl(const SettingsData& data) {
#ifdef FORELOCK_SASL
  const std::string& mechanism = data.text(OptionId::sasl_mechanism);
  if (refused_[static_cast<std::size_t>(OptionId::sasl_mechanism)]) return;
  for (const OptionId id :
       {OptionId::sasl_user, OptionId::sasl_password_file, OptionId::sasl_service, OptionId::sasl_realm}) {
    const Given* const own = given(id);
    if (own == nullptr || own->value.text.empty()) continue;
    const std::string_view needed = id == OptionId::sasl_service ? "GSSAPI" : "DIGEST-MD5";
    if (mechanism == needed) continue;
    refuse(*own, "does nothing without zookeeper.sasl.mechanism=" + std::string(needed),
           mechanism.empty()    ? "set that too"
           : needed == "GSSAPI" ? "remove it: DIGEST-MD5 knows no service"
                                : "remove it: with GSSAPI it is Kerberos that knows (kinit, or a client keytab)");
  }
  const Given* const place = given(OptionId::sasl_mechanism);
  if (place == nullptr || mechanism != "DIGEST-MD5") return;
  for (const OptionId id : {OptionId::sasl_user, OptionId::sasl_password_file}) {
    if (!data.text(id).empty() || refused_[static_cast<std::size_t>(id)]) continue;
    refuse(*place, "needs " + std::string(option(id).key), "set that too");
  }
#else
  static_cast<void>(data);
  for (const Option& each : options()) {
    const Given* const own = given(each.id);
    if (own == nullptr || !each.key.starts_with("zookeeper.sasl.")) continue;
    refuse(*own, "this build has no SASL to ZooKeeper",
           "install libsasl2-dev, run scripts/zookeeper_client.sh, and build again: docs/operating.md, SASL");
  }
#endif
}

SaslSettings SettingsBuilder::sasl_settings(const SettingsData& data) {
  SaslSettings sasl;
  const std::string& mechanism = data.text(OptionId::sasl_mechanism);
  if (mechanism == "DIGEST-MD5") sasl.mechanism = SaslSettings::Mechanism::digest_md5;
  if (mechanism == "GSSAPI") sasl.mechanism = SaslSettings::Mechanism::gssapi;
  sasl.user = data.text(OptionId::sasl_user);
  sasl.password_file = data.file(OptionId::sasl_password_file);
  sasl.service = data.text(OptionId::sasl_service);
  sasl.realm = data.text(OptionId::sasl_realm);
  return sasl;
}

TlsSettings SettingsBuilder::tls_settings(const SettingsData& data) {
  TlsSettings tls;
  tls.ca_file = data.text(OptionId::tls_ca_file);
  tls.certificate_file = data.text(OptionId::tls_certificate_file);
  tls.key_file = data.file(OptionId::tls_key_file);
  tls.key_password_file = data.file(OptionId::tls_key_password_file);
  tls.crl_file = data.text(OptionId::tls_crl_file);
  tls.min_version =
      data.text(OptionId::tls_min_version) == "1.3" ? TlsSettings::Version::v1_3 : TlsSettings::Version::v1_2;
  std::string_view names = data.text(OptionId::tls_server_names);
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    tls.server_names.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return tls;
}

const Given* SettingsBuilder::given(OptionId id) const {
  const auto found = given_.find(std::string(option(id).key));
  return found == given_.end() ? nullptr : &found->second;
}

}  // namespace forelock::config
