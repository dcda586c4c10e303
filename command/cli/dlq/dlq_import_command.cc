// forelock dlq import: puts letters that were exported back into the queue.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/letter_restoring.h"
#include "cli/dlq/letters_text.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "drain/open_store.h"
#include "forelock/error.h"
#include "letter/letter_json.h"

namespace forelock::cli {
namespace {

// Visits each line as a letter. \throws FailureException naming the first line that is none.
void for_each_letter(const std::string& path, const std::function<void(const drain::StoredLetter&)>& visitor) {
  if (path == "-") {
    throw_usage(
        "import: standard input cannot be imported: the letters are read twice, so that a broken file imports none",
        "put them into a file first, or name it if it is called '-': ./-");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_usage("import: " + path + " cannot be read: " + std::generic_category().message(errno));
  std::uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty()) continue;
    drain::StoredLetter letter;
    try {
      letter.letter = letter::from_json(line);
    } catch (const Error& error) {
      throw FailureException({exit_failed,
                              std::string(name_of(error.code())),
                              path + ':' + std::to_string(number) + ": " + error.what(),
                              "nothing was imported; each line must be a record as forelock dlq export writes it",
                              {},
                              false,
                              {}});
    }
    letter.record = std::move(line);
    visitor(letter);
  }
  if (file.bad()) throw_usage("import: " + path + " cannot be read to its end");
}

class DlqImportCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("import", "Put letters that were exported back into the queue");
    app->add_option("FILE", file_, "A file written by forelock dlq export")->required();
    app->add_flag("--outbox", outbox_, "Into this machine's outbox even if Kafka is configured");
    app->add_flag("--execute", execute_, "Do it; without, a dry run");
    app->footer("Example: forelock dlq import letters.ndjson --execute");
    return app;
  }

  int run(const Context& context) override {
    // All of it first: a file that is broken in its middle imports nothing.
    std::uint64_t letters = 0;
    for_each_letter(file_, [&letters](const drain::StoredLetter&) { ++letters; });
    if (!execute_) {
      say_what_would_be(letters, context);
      return exit_ok;
    }
    const auto kind = outbox_ ? drain::StoreKind::outbox : drain::StoreKind::configured;
    const auto store = drain::open_store(context.globals.settings(), kind, dead_letter_log(context.console));
    LetterRestoring restoring(context.console, context.globals.settings(), *store, {"import", file_});
    drain::LetterFilter nothing;
    nothing.ids = {""};
    store->scan(nothing, restoring);  // so that the store knows what has become of the letters
    for_each_letter(file_, [&restoring](const drain::StoredLetter& letter) { restoring.letter(letter); });
    return restoring.finish();
  }

 private:
  void say_what_would_be(std::uint64_t letters, const Context& context) const {
    const std::string next = "forelock dlq import " + shell_quoted(file_) + repeat_words(context.globals) +
                             (outbox_ ? " --outbox" : "") + " --execute";
    if (!context.console.text())
      return context.console.write_json({{"dry_run", true}, {"letters", letters}, {"next", next}});
    context.console.write("Would import " + count_of_letters(letters) + " from " + printable(file_) +
                          "\n\nNothing was done. To do it:\n  " + next + '\n');
  }

  std::string file_;
  bool outbox_ = false;
  bool execute_ = false;
};

}  // namespace

std::unique_ptr<Command> make_dlq_import_command() {
  return std::make_unique<DlqImportCommand>();
}

}  // namespace forelock::cli
