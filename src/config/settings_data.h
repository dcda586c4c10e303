// The contents of a Settings object: the values in force, typed, and the origins of those that are not defaults.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/option.h"
#include "config/server_list.h"
#include "config/value_parser.h"
#include "forelock/configuration_error.h"
#include "forelock/settings.h"

namespace forelock::config {

// A value that is not a default.
struct Given {
  std::string spelling;  // the key as it was written
  ParsedValue value;
  std::string source;                         // the file, or the origin of an override
  int line = 0;                               // 0 where there is none
  std::shared_ptr<const std::string> secret;  // what a program gave in place of the file; the value is its key then

  std::string origin() const { return line > 0 ? source + ':' + std::to_string(line) : source; }
};

struct SettingsData {
  std::vector<ConfigurationProblem> doubts;                                   // config/doubtful_keys.h
  std::map<std::string, Given> given;                                         // by the key of the contract
  std::array<ParsedValue, static_cast<std::size_t>(OptionId::count)> values;  // by OptionId, defaults included
  // The same in the types that the getters return.
  ServerList servers;
  std::filesystem::path session_file;
  std::filesystem::path outbox_path;
  std::filesystem::path trace_file;
  std::filesystem::path auth_digest_file;
  TlsSettings tls;
  SaslSettings sasl;
  std::map<std::string, std::string> kafka;

  const ParsedValue& value(OptionId id) const { return values[static_cast<std::size_t>(id)]; }
  const std::string& text(OptionId id) const { return value(id).text; }
  std::int64_t number(OptionId id) const { return value(id).number; }
  // What the program has given in place of this setting's file; null if it has not.
  const std::string* secret(OptionId id) const;
  // The setting's file; empty if there is none.
  std::filesystem::path file(OptionId id) const;

  static const SettingsData& of(const Settings& settings);
};

}  // namespace forelock::config
