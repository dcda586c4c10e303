#include "cli/dlq/letter_removal.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/counted.h"
#include "cli/audit.h"
#include "cli/connection.h"
#include "cli/dlq/letter_lookup.h"
#include "cli/dlq/letters_json.h"
#include "cli/dlq/letters_text.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/output/quantity_text.h"
#include "drain/bulk_resolver.h"
#include "drain/drainer_lock.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

constexpr std::chrono::seconds between_removal_lines{5};

// Collects the letters that are named: by an id, or by a position where there is none.
class Named final : public drain::LetterVisitor {
 public:
  bool letter(const drain::StoredLetter& letter) override {
    names.insert(letter.letter.id);
    found.emplace_back(letter);
    return true;
  }
  bool unreadable(const drain::UnreadableLetter& letter) override {
    names.insert(letter.position);
    found.emplace_back(letter);
    return true;
  }

  std::set<std::string> names;
  std::vector<FoundLetter> found;
};

// Resolves what it visits, and says now and then how far it is.
class Remover final : public drain::LetterVisitor {
 public:
  Remover(drain::BulkResolver& resolver, drain::Resolution resolution, const Console& console)
      : resolver_(resolver), resolution_(resolution), console_(console) {}

  bool letter(const drain::StoredLetter& letter) override {
    // What is parked already has no other place to go to.
    if (resolution_ == drain::Resolution::parked && letter.state == drain::LetterState::parked) return true;
    say_how_far();
    return resolver_.letter(letter);
  }
  bool unreadable(const drain::UnreadableLetter& letter) override {
    say_how_far();
    return resolver_.unreadable(letter);
  }

 private:
  void say_how_far() {
    const auto now = std::chrono::steady_clock::now();
    if (!console_.text() || now - said_at_ < between_removal_lines) return;
    said_at_ = now;
    console_.note(count_of_letters(resolver_.letters()) + ' ' + std::string(name_of(resolution_)) + " so far");
  }

  drain::BulkResolver& resolver_;
  const drain::Resolution resolution_;
  const Console& console_;
  std::chrono::steady_clock::time_point said_at_ = std::chrono::steady_clock::now();
};

class Removal {
 public:
  Removal(const LetterRemoval& request, const Context& context)
      : request_(request),
        context_(context),
        settings_(context.globals.settings()),
        filter_(request.filter.filter(records::wall_time_now())),
        store_(drain::open_store(settings_, request.filter.store_kind(), dead_letter_log(context.console),
                                 request.confirmed ? drain::StoreAccess::change : drain::StoreAccess::look)) {}

  int run() {
    const Purpose purpose = request_.confirmed ? Purpose::change : Purpose::look;
    complete_ids(*store_, ids_, purpose);
    complete_ids(*store_, filter_.ids, purpose);
    if (!request_.confirmed) {
      say_what_would_be(find_named());
      return exit_ok;
    }
    const CommandClient client(settings_, context_.console);
    const drain::DrainerLock lock(*client, *store_, request_.command);
    // Not before: what a replay has just done with is not there any more.
    const std::vector<FoundLetter> named = find_named();
    audit(lock, "begun");
    drain::BulkResolver resolver(*store_, lock, request_.resolution);
    const auto done = [&] {
      return std::string(name_of(request_.resolution)) + ' ' +
             std::to_string(resolver.letters() + resolver.unreadable_letters());
    };
    try {
      remove(named, resolver);
    } catch (...) {
      audit(lock, done() + " at least; then it failed");
      throw;
    }
    audit(lock, done());
    say_what_was_done(resolver);
    return exit_ok;
  }

 private:
  void audit(const drain::DrainerLock& lock, const std::string& result) const {
    audit_drain({request_.command, store_->describe(), lock.token(), which(), result}, context_.console);
  }

  void remove(const std::vector<FoundLetter>& named, drain::BulkResolver& resolver) {
    Remover remover(resolver, request_.resolution, context_.console);
    if (request_.ids.empty()) {
      store_->scan(filter_, remover);
    } else {
      visit(named, remover);
    }
    resolver.finish();
    store_->settle();
    if (request_.resolution == drain::Resolution::purged) store_->delete_resolved();
  }

  // All of them, or none: a misspelt id must not be noticed after the others have gone.
  std::vector<FoundLetter> find_named() {
    if (request_.ids.empty()) return {};
    Named named;
    drain::LetterFilter filter;
    filter.ids = ids_;
    for (const bool parked : {false, true}) {
      filter.parked = parked;
      store_->scan(filter, named);
    }
    for (const std::string& id : ids_) {
      if (!named.names.contains(id)) throw_unknown_letter(*store_, id);
    }
    return std::move(named.found);
  }

  // As words of the command line.
  std::string which() const {
    std::string text = request_.all ? " --all" : request_.filter.words();
    for (const std::string& id : ids_) text += ' ' + shell_quoted(id);
    return text.substr(std::min<std::size_t>(text.size(), 1));
  }

  static void visit(const std::vector<FoundLetter>& letters, drain::LetterVisitor& visitor) {
    for (const FoundLetter& letter : letters) {
      if (const auto* stored = std::get_if<drain::StoredLetter>(&letter)) {
        visitor.letter(*stored);
      } else {
        visitor.unreadable(std::get<drain::UnreadableLetter>(letter));
      }
    }
  }

  void say_what_would_be(const std::vector<FoundLetter>& named) {
    drain::LetterStatistics letters;
    if (request_.ids.empty()) {
      store_->scan(filter_, letters);
    } else {
      visit(named, letters);
    }
    const WallTime now = records::wall_time_now();
    const bool nothing = letters.letters + letters.unreadable_letters == 0;
    if (!context_.console.text()) {
      nlohmann::ordered_json json = {{"dry_run", true}, {"store", store_->describe()}};
      json.update(json_of(letters, now));
      json["next"] = nothing ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(next_command());
      return context_.console.write_json(json);
    }
    if (nothing)
      return context_.console.write("Nothing to " + request_.command + " in the " + store_->describe() + '\n');
    std::string text = "Would " + request_.command + ' ' + count_of_letters(letters.letters);
    if (letters.unreadable_letters > 0)
      text += " and " + base::counted(letters.unreadable_letters, "record") + " that cannot be read";
    text += " from the " + store_->describe();
    if (letters.oldest) text += ", oldest failed " + duration_text(age_of(*letters.oldest, now)) + " ago";
    const std::string histogram = histogram_of(letters, context_.console);
    text += (histogram.empty() ? "\n" : "\n\n" + histogram);
    text += "\nNothing was done. ";
    if (request_.resolution == drain::Resolution::purged)
      text += "What is purged is gone; to keep a copy first: forelock dlq export --output FILE\n";
    context_.console.write(text + "To do it:\n  " + next_command() + '\n');
  }

  std::string next_command() const {
    std::string text =
        "forelock dlq " + request_.command + request_.filter.words(filter_.ids) + repeat_words(context_.globals);
    if (request_.all) text += " --all";
    text += ' ' + request_.confirmation;
    for (const std::string& id : ids_) text += ' ' + shell_quoted(id);
    return text;
  }

  void say_what_was_done(const drain::BulkResolver& remover) const {
    const std::string done(name_of(request_.resolution));  // "parked", "purged"
    if (!context_.console.text()) {
      context_.console.write_json(
          {{done, remover.letters()}, {"unreadable", remover.unreadable_letters()}, {"store", store_->describe()}});
      return;
    }
    std::string text = done + ' ' + count_of_letters(remover.letters());
    if (remover.unreadable_letters() > 0)
      text += " and " + base::counted(remover.unreadable_letters(), "record") + " that cannot be read";
    context_.console.write(text + '\n');
  }

  const LetterRemoval& request_;
  const Context& context_;
  const Settings settings_;
  drain::LetterFilter filter_;
  std::vector<std::string> ids_ = request_.ids;  // whole ones
  std::unique_ptr<drain::LetterStore> store_;
};

}  // namespace

int remove_letters(const LetterRemoval& removal, const Context& context) {
  const bool narrows = removal.filter.narrows();
  if (!removal.ids.empty() && (narrows || removal.all))
    throw_usage(removal.command + ": ids, or a filter: not both", "see: forelock dlq " + removal.command + " --help");
  if (removal.ids.empty() && !narrows && !removal.all) {
    throw_usage(
        removal.command + ": which letters?",
        "name their ids, or a filter such as --reason, or --all; see: forelock dlq " + removal.command + " --help");
  }
  return Removal(removal, context).run();
}

}  // namespace forelock::cli
