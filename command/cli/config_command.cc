// forelock config: the settings in force, and what a file says.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output/text_table.h"
#include "client/sasl_setup.h"
#include "client/tls_setup.h"
#include "config/doubtful_keys.h"
#include "config/open_file.h"
#include "config/properties.h"
#include "config/settings_builder.h"
#include "kafka/client_config.h"

namespace forelock::cli {
namespace {

constexpr std::size_t largest_file = 1024 * 1024;

// The command's -o json says "keys and values": one object.
using Json = nlohmann::ordered_json;

std::string read_file(const std::string& path) {
  try {
    std::string text = config::OpenFile(path).read(largest_file);
    if (text.size() <= largest_file) return text;
    throw ConfigurationException({{path, 0, {}, "is larger than 1 MiB", {}}});
  } catch (const std::system_error& error) {
    throw ConfigurationException({{path, 0, {}, "cannot be read: " + error.code().message(), {}}});
  }
}

// Of a file that has other faults besides; none if it cannot be read as settings at all, or not twice.
std::vector<ConfigurationProblem> doubts_of(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};
  const auto format = file.ends_with(".properties") ? Settings::Format::properties : Settings::Format::yaml;
  try {
    return config::doubtful_keys(config::OpenFile(file).read(config::largest_file), format, file);
  } catch (const std::system_error&) {
    return {};
  } catch (const ConfigurationException&) {
    return {};
  }
}

class ConfigCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("config", "Show the settings in force and where each comes from");
    app->require_subcommand(0, 1);
    check_ =
        app->add_subcommand("check", "Check a file; exit 78 with FILE:LINE: key: what is wrong, or may be misspelt");
    check_->add_option("FILE", file_, "A .properties or .yaml file")->required();
    parse_ = app->add_subcommand("parse", "Print the keys and values of a .properties file as Java reads them");
    parse_->add_option("FILE", file_, "A .properties file")->required();
    return app;
  }

  int run(const Context& context) override {
    if (check_->parsed()) return check(context);
    if (parse_->parsed()) return parse(context);
    return show(context);
  }

 private:
  int check(const Context& context) const {
    std::vector<ConfigurationProblem> problems;
    try {
      const Settings settings = Settings::load(file_);
      problems = settings.doubts();
      settings.load_digest();  // the files that it names belong to it
      client::make_tls(settings);
      client::make_sasl(settings);
      kafka::check_settings(settings);
    } catch (const ConfigurationException& found) {
      if (problems.empty()) problems = doubts_of(file_);
      problems.insert(problems.begin(), found.problems().begin(), found.problems().end());
    }
    if (!problems.empty()) throw ConfigurationException(std::move(problems));
    if (context.console.text()) {
      context.console.write(printable(file_) + ": no problems\n");
    } else {
      context.console.write_json({{"file", file_}, {"ok", true}});
    }
    return exit_ok;
  }

  int parse(const Context& context) const {
    const std::vector<config::Property> properties = config::parse_properties(read_file(file_), file_);
    Json all = Json::object();
    for (const config::Property& property : properties) {
      switch (context.console.format()) {
        case Format::json:
          all[property.key] = property.value;
          break;
        case Format::ndjson:
          context.console.write_json({{"key", property.key}, {"value", property.value}});
          break;
        case Format::text:
          context.console.write(printable(property.key) + " = " + printable(property.value) + '\n');
          break;
      }
    }
    if (context.console.format() == Format::json) context.console.write_json(all);
    return exit_ok;
  }

  static int show(const Context& context) {
    const Settings settings = context.globals.settings();
    TextTable table({{"KEY"}, {"VALUE"}, {"FROM"}});
    Json all = Json::array();
    for (Settings::Entry entry : settings.entries()) {
      if (entry.key.starts_with("kafka.") && !kafka::is_known_setting(entry.key)) {
        entry.value = "******";
        entry.secret = true;
      }
      table.add({{entry.key}, {entry.value}, {entry.origin, entry.origin == "default" ? Style::faint : Style::plain}});
      all.push_back({{"key", entry.key}, {"value", entry.value}, {"origin", entry.origin}, {"secret", entry.secret}});
    }
    switch (context.console.format()) {
      case Format::json:
        context.console.write_json(Json{{"settings", all}});
        break;
      case Format::ndjson:
        for (const Json& entry : all) context.console.write_json(entry);
        break;
      case Format::text:
        context.console.write(table.str(context.console));
        break;
    }
    return exit_ok;
  }

  CLI::App* check_ = nullptr;
  CLI::App* parse_ = nullptr;
  std::string file_;
};

}  // namespace

std::unique_ptr<Command> make_config_command() {
  return std::make_unique<ConfigCommand>();
}

}  // namespace forelock::cli
