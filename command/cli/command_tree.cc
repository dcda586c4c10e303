#include "cli/command_tree.h"

#include <CLI/CLI.hpp>

namespace forelock::cli {
namespace {

// "FORMAT:{text,json}" becomes the name and the choices.
void set_value(OptionEntry& entry, const std::string& type) {
  const std::size_t colon = type.find(':');
  entry.value = type.substr(0, colon);
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return;
  std::string choice;
  for (const char c : type.substr(begin + 1, end - begin - 1) + ',') {
    if (c == ',') {
      entry.choices.push_back(std::exchange(choice, {}));
    } else {
      choice += c;
    }
  }
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry{option.get_snames(), option.get_lnames(), {}, {}, option.get_description()};
  if (option.get_items_expected_max() > 0) set_value(entry, option.get_type_name());
  return entry;
}

CommandEntry entry_of(const CLI::App& app, std::vector<std::string> path) {
  CommandEntry entry{path, app.get_description(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      entry.arguments.push_back({{}, {option->get_name(true)}, {}, {}, option->get_description()});
    } else {
      entry.options.push_back(entry_of(*option));
    }
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    path.push_back(sub->get_name());
    entry.subcommands.push_back(entry_of(*sub, path));
    path.pop_back();
  }
  return entry;
}

}  // namespace

CommandEntry tree_of(const CLI::App& app) {
  return entry_of(app, {});
}

}  // namespace forelock::cli
