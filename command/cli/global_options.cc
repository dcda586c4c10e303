#include "cli/global_options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <mutex>

#include "cli/failure.h"
#include "cli/not_empty.h"

namespace forelock::cli {
namespace {

constexpr const char* group = "Options for every command";
constexpr std::string_view servers_key = "zookeeper.servers";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Settings::Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw_usage("--set " + text + ": not KEY=VALUE", "for example: --set zookeeper.session.timeout=10000");
  }
  return {text.substr(0, equals), text.substr(equals + 1), "--set"};
}

}  // namespace

void GlobalOptions::add_to(CLI::App& root) {
  root.add_option("--config", config, "Settings: a .properties or .yaml file [$FORELOCK_CONFIG]")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(group);
  root.add_option("--zookeeper", zookeeper, "Servers, HOST:PORT[,…][/CHROOT]; over the file [$FORELOCK_ZOOKEEPER]")
      ->type_name("HOSTS")
      ->check(not_empty())
      ->group(group);
  root.add_option("--set", set, "Override one setting; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  root.add_option("-o,--output", output, "Form of the result: text, json or ndjson")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "ndjson"}))
      ->group(group);
  root.add_flag("-q,--quiet", quiet, "Print only results and errors")->group(group);
  root.add_flag("-v,--verbose", verbosity, "Print more; twice: even more; three times: the course of each lock")
      ->group(group);
  root.add_option("--color", color, "Colours: auto, always or never [$NO_COLOR]")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group(group);
  root.add_option("--audit-file", audit_file, "Record acts on others' locks and letters here [$FORELOCK_AUDIT_FILE]")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(group);
  CLI::Option* file = root.add_option("--log-file", log.file, "Write a log to this file too; 5 files of 10 MiB at most")
                          ->type_name("FILE")
                          ->check(not_empty())
                          ->group(group);
  root.add_option("--log-format", log.format, "Form of the log file's lines: text or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
      ->needs(file)
      ->group(group);
  root.add_option("--log-level", log.level, "Least level in the log file: error, warning, info or debug")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"error", "warning", "info", "debug"}))
      ->needs(file)
      ->group(group);
}

ConsoleOptions GlobalOptions::console() const {
  const Format format = output == "json" ? Format::json : output == "ndjson" ? Format::ndjson : Format::text;
  return {format, quiet, verbosity, color};
}

std::string GlobalOptions::audit_path() const {
  return audit_file.empty() ? from_environment("FORELOCK_AUDIT_FILE") : audit_file;
}

Settings GlobalOptions::settings() const {
  std::vector<Settings::Override> overrides;  // later ones over earlier ones
  const std::string servers = from_environment("FORELOCK_ZOOKEEPER");
  if (!servers.empty()) overrides.push_back({std::string(servers_key), servers, "$FORELOCK_ZOOKEEPER"});
  if (!zookeeper.empty()) overrides.push_back({std::string(servers_key), zookeeper, "--zookeeper"});
  for (const std::string& text : set) overrides.push_back(parse_override(text));

  const std::string file = config.empty() ? from_environment("FORELOCK_CONFIG") : config;
  Settings settings;
  if (file.empty()) {
    settings.set(overrides);
  } else {
    settings = Settings::load(file, overrides);
    static std::once_flag doubts_noted;  // a command may load them several times
    std::call_once(doubts_noted, [&] {
      for (const ConfigurationProblem& doubt : settings.doubts()) Console(console()).warn(to_string(doubt));
    });
  }
  return settings;
}

}  // namespace forelock::cli
