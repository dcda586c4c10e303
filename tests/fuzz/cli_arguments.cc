// Any words as a command line: understood, or refused with exit 64 and one message, and never a crash. Nothing is run.
//
// Words are separated by newlines. Run it with -close_fd_mask=3: the messages go nowhere.
#include <CLI/CLI.hpp>

#include "check.h"
#include "cli/command_tree.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/global_options.h"
#include "cli/program.h"

namespace {

using forelock::fuzz::demand;

constexpr std::size_t most_words = 64;

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty() && words.size() < most_words) {
    const auto end = text.find('\n');
    words.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return words;
}

// The whole program, with a word before all others that no command knows: it parses everything, finds the word, looks
// for the nearest one that it knows, and reports. What asks for help or for the version gets it.
void refuse(std::vector<std::string> words) {
  words.insert(words.begin(), "--no-such-option");
  const int code = forelock::cli::run_program(words);
  demand(code == forelock::cli::exit_usage || code == forelock::cli::exit_ok, "a command line is refused as such");
}

// The parser alone, as the program sets it up.
void parse(std::vector<std::string> words) {
  CLI::App root("", "forelock");
  root.fallthrough();
  root.require_subcommand(1);
  forelock::cli::GlobalOptions globals;
  globals.add_to(root);
  std::vector<std::pair<CLI::App*, std::unique_ptr<forelock::cli::Command>>> commands;
  for (auto& command : forelock::cli::make_commands()) {
    CLI::App* app = command->add_to(root);
    commands.emplace_back(app, std::move(command));
  }
  try {
    root.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError&) {
    return;
  }
  std::size_t chosen = 0;
  for (const auto& [app, command] : commands) chosen += app->parsed() ? 1u : 0u;
  demand(chosen == 1, "a command line that is understood has one command");
  demand(globals.output == "text" || globals.output == "json" || globals.output == "ndjson",
         "the form is one of three");
  demand(globals.color == "auto" || globals.color == "always" || globals.color == "never", "colours are one of three");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> words = words_in({reinterpret_cast<const char*>(data), size});
  refuse(words);
  parse(words);
  return 0;
}
