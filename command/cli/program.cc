#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>

#include "cli/audit_file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/help_text.h"
#include "cli/left_behind.h"
#include "cli/log/command_log.h"
#include "cli/output/message_writer.h"
#include "cli/output/quantity_text.h"
#include "cli/suggestion.h"
#include "forelock/version.h"

namespace forelock::cli {
namespace {

// Before the parser has understood anything, an error must come out in the right form already.
std::string requested_format(const std::vector<std::string>& arguments) {
  std::string format = "text";
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    const bool separate = (word == "-o" || word == "--output") && i + 1 < arguments.size();
    const std::string value = separate                        ? arguments[i + 1]
                              : word.starts_with("--output=") ? word.substr(9)
                              : word.starts_with("-o")        ? word.substr(2)
                                                              : "";
    if (value == "json" || value == "ndjson" || value == "text") format = value;
  }
  return format;
}

// The command that the words behind it were meant for.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.back());
}

// As other programs have it: "help run" is "run --help".
std::vector<std::string> understood(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  if (arguments.front() == "version") arguments.front() = "--version";
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return arguments;
}

bool has_commands(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty();
}

std::string command_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? "forelock" : command_name(*app.get_parent()) + ' ' + app.get_name();
}

Failure usage_failure(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = innermost(root);
  const std::string help = command_name(app) + " --help";
  const std::vector<std::string> unknown = root.remaining(true);
  const auto word = std::find_if(unknown.begin(), unknown.end(), [](const std::string& text) { return text != "--"; });
  if (word == unknown.end()) return {exit_usage, "usage", error.what(), "see: " + help, {}, false, {}};
  const bool option = word->starts_with('-');
  const std::string kind = option ? "option" : has_commands(app) ? "command" : "argument";
  const std::string nearest = kind == "argument" ? "" : nearest_word(*word, words_of(app, *word));
  const std::string where = &app == &root ? "" : app.get_name() + ": ";
  return {exit_usage,
          "usage",
          where + "unknown " + kind + " '" + *word + "'",
          nearest.empty() ? "see: " + help : "did you mean '" + nearest + "'? see: " + help,
          {},
          false,
          {}};
}

class Program {
 public:
  Program() : root_("A priority-aware distributed lock on Apache ZooKeeper", "forelock") {
    root_.fallthrough();  // options of every command are understood behind its name too
    root_.require_subcommand(1);
    root_.set_version_flag("-V,--version", "forelock " + std::string(version()), "Print the version and leave");
    root_.get_formatter()->column_width(34);
    globals_.add_to(root_);
    for (std::unique_ptr<Command>& command : make_commands()) {
      CLI::App* app = command->add_to(root_);
      if (app->get_footer().empty()) app->footer("Options for every command: see forelock --help");
      commands_.push_back({app, std::move(command)});
    }
    root_.footer(
        "Exit: 0, or the child's code; 1 no; 64 usage; 69 a server is unreachable; 70 a defect; 73 not stored;\n"
        "      74 output or outbox; 75 not in time; 76 lock lost; 77 not authorised; 78 configuration; 79 "
        "dead-lettered;\n"
        "      126, 127 cannot execute; 128+n signal n");
  }

  int run(const std::vector<std::string>& arguments) {
    try {
      std::vector<std::string> words = understood(arguments);
      std::reverse(words.begin(), words.end());  // as this parser wants them
      root_.parse(std::move(words));
    } catch (const CLI::CallForVersion& version_text) {
      Console({}).write(std::string(version_text.what()) + '\n');
      return exit_ok;
    } catch (const CLI::Success&) {
      const std::vector<std::string> unknown = root_.remaining(true);
      if (unknown.empty() || !has_commands(innermost(root_))) {
        Console({}).write(fitted_help(root_.help(), static_cast<std::size_t>(Console::terminal_columns())));
        return exit_ok;
      }
      return report_usage(arguments, CLI::ExtrasError(unknown));
    } catch (const CLI::ParseError& error) {
      if (arguments.empty()) {
        MessageWriter::of_stderr().write(root_.help());
        return exit_usage;
      }
      return report_usage(arguments, error);
    }
    const Console console(globals_.console());
    AuditFile::instance().set_path(globals_.audit_path());
    try {
      open_log(console);
    } catch (...) {
      const Failure failure = failure_of(std::current_exception());
      console.report(failure);
      return failure.exit_code;
    }
    for (const std::string& doubt : duration_doubts()) {
      if (console.text()) console.note(doubt);
    }
    try {
      return run_parsed({globals_, console, root_});
    } catch (const OutputClosed&) {
      throw;
    } catch (const EndedBySignal& ended) {
      return exit_signalled(ended.signal);
    } catch (...) {
      const Failure failure = failure_of(std::current_exception());
      console.report(failure);
      return failure.exit_code;
    }
  }

 private:
  struct Entry {
    CLI::App* app;
    std::unique_ptr<Command> command;
  };

  int report_usage(const std::vector<std::string>& arguments, const CLI::ParseError& error) const {
    GlobalOptions globals = globals_;
    globals.output = requested_format(arguments);
    Console(globals.console()).report(usage_failure(root_, error));
    return exit_usage;
  }

  void open_log(const Console& console) const {
    if (globals_.log.file.empty()) return;
    // Names alone: arguments may be secrets.
    const std::string first = command_name(innermost(root_)) + ", version " + std::string(version());
    CommandLog::instance().open(globals_.log, first, [console](const std::string& text) { console.tell(text); });
  }

  int run_parsed(const Context& context) {
    for (const Entry& entry : commands_) {
      if (entry.app->parsed()) return entry.command->run(context);
    }
    return exit_usage;  // not reached: the parser requires a command
  }

  CLI::App root_;
  GlobalOptions globals_;
  std::vector<Entry> commands_;
};

}  // namespace

namespace {

int run_and_report(const std::vector<std::string>& arguments) {
  try {
    return Program().run(arguments);
  } catch (const OutputClosed&) {
    return exit_signalled(SIGPIPE);
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    Console({}).report(failure);
    return failure.exit_code;
  }
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  const int exit_code = run_and_report(arguments);
  CommandLog::instance().flush();
  MessageWriter::of_stderr().flush();
  return exit_code;
}

}  // namespace forelock::cli
