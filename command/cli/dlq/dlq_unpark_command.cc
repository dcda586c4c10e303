// forelock dlq unpark: puts parked letters back into the queue.
#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/letter_lookup.h"
#include "cli/dlq/letter_restoring.h"
#include "cli/dlq/letters_text.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "drain/letter_statistics.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

class Names final : public drain::LetterVisitor {
 public:
  bool letter(const drain::StoredLetter& letter) override { return found.insert(letter.letter.id), true; }
  bool unreadable(const drain::UnreadableLetter&) override { return true; }
  std::set<std::string> found;
};

class DlqUnparkCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("unpark", "Put parked letters back into the queue");
    app->add_option("ID", ids_, "These, at once");
    filter_.add_to(*app);
    app->add_flag("--all", all_, "Every parked letter");
    app->add_flag("--execute", execute_, "With a filter: do it; without, a dry run");
    app->footer("Example: forelock dlq unpark 0a1b2c3d-…");
    return app;
  }

  int run(const Context& context) override {
    check();
    drain::LetterFilter filter = filter_.filter(records::wall_time_now());
    filter.parked = true;
    if (!ids_.empty()) filter.ids = ids_;
    const bool confirmed = execute_ || !ids_.empty();
    const auto store =
        drain::open_store(context.globals.settings(), filter_.store_kind(), dead_letter_log(context.console),
                          confirmed ? drain::StoreAccess::change : drain::StoreAccess::look);
    complete_ids(*store, filter.ids, confirmed ? Purpose::change : Purpose::look);
    if (!confirmed) {
      say_what_would_be(filter, *store, context);
      return exit_ok;
    }
    LetterRestoring restoring(context.console, context.globals.settings(), *store, {"unpark", which()});
    check_ids(filter, *store);
    store->scan(filter, restoring);
    return restoring.finish();
  }

 private:
  void check() const {
    if (!ids_.empty() && (filter_.narrows() || all_))
      throw_usage("unpark: ids, or a filter: not both", "see: forelock dlq unpark --help");
    if (ids_.empty() && !filter_.narrows() && !all_)
      throw_usage("unpark: which letters?", "name their ids, or a filter such as --reason, or --all");
  }

  // All of them, or none.
  void check_ids(const drain::LetterFilter& filter, drain::LetterStore& store) const {
    if (ids_.empty()) return;
    Names names;
    store.scan(filter, names);
    for (const std::string& id : filter.ids) {
      if (!names.found.contains(id)) throw_unknown_letter(store, id);
    }
  }

  std::string which() const {
    std::string text = all_ ? " --all" : filter_.words();
    for (const std::string& id : ids_) text += ' ' + shell_quoted(id);
    return text.substr(1);
  }

  void say_what_would_be(const drain::LetterFilter& filter, drain::LetterStore& store, const Context& context) const {
    drain::LetterStatistics letters;
    store.scan(filter, letters);
    const std::string next = "forelock dlq unpark" + filter_.words(filter.ids) + repeat_words(context.globals) +
                             (all_ ? " --all" : "") + " --execute";
    if (!context.console.text()) {
      return context.console.write_json(
          {{"dry_run", true}, {"store", store.describe()}, {"letters", letters.letters}, {"next", next}});
    }
    context.console.write("Would put " + count_of_letters(letters.letters) + " back into the queue of the " +
                          store.describe() + "\n\nNothing was done. To do it:\n  " + next + '\n');
  }

  std::vector<std::string> ids_;
  DlqFilter filter_;
  bool all_ = false;
  bool execute_ = false;
};

}  // namespace

std::unique_ptr<Command> make_dlq_unpark_command() {
  return std::make_unique<DlqUnparkCommand>();
}

}  // namespace forelock::cli
