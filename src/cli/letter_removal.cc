#include "cli/letter_removal.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/connection.h"
#include "cli/duration_text.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/letter_lanes.h"
#include "cli/letter_lookup.h"
#include "cli/letters_json.h"
#include "cli/letters_text.h"
#include "cli/repeat_words.h"
#include "drain/drainer_lock.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

constexpr std::chrono::seconds between_lines{5};

// Resolves what it visits, and counts it.
class Remover final : public drain::LetterVisitor {
 public:
  Remover(drain::LetterStore& store, const drain::DrainerLock& lock, const LetterRemoval& request,
          const Console& console)
      : store_(store), lock_(lock), request_(request), console_(console), lanes_([this](const FoundLetter& letter) {
          resolve(letter);
        }) {}

  bool letter(const drain::StoredLetter& letter) override { return lanes_.add(letter); }
  bool unreadable(const drain::UnreadableLetter& letter) override { return lanes_.add(letter); }

  // \throws what went wrong.
  void finish() { lanes_.finish(); }

  std::uint64_t letters() const { return letters_; }
  std::uint64_t unreadable_letters() const { return unreadable_letters_; }

 private:
  void resolve(const FoundLetter& found) {
    lock_.check_health();
    if (const auto* letter = std::get_if<drain::StoredLetter>(&found)) {
      // What is parked already has no other place to go to.
      if (request_.resolution == drain::Resolution::parked && letter->state == drain::LetterState::parked) return;
      store_.resolve(*letter, request_.resolution);
      ++letters_;
    } else {
      store_.resolve(std::get<drain::UnreadableLetter>(found), request_.resolution);
      ++unreadable_letters_;
    }
    say_how_far();
  }

  void say_how_far() {
    const std::lock_guard guard(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (!console_.text() || now - said_at_ < between_lines) return;
    said_at_ = now;
    console_.note(count_of_letters(letters_) + ' ' + std::string(name_of(request_.resolution)) + " so far");
  }

  drain::LetterStore& store_;
  const drain::DrainerLock& lock_;
  const LetterRemoval& request_;
  const Console& console_;
  std::atomic<std::uint64_t> letters_ = 0;
  std::atomic<std::uint64_t> unreadable_letters_ = 0;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point said_at_ = std::chrono::steady_clock::now();
  LetterLanes lanes_;  // last: its threads use the others
};

class Removal {
 public:
  Removal(const LetterRemoval& request, const Context& context)
      : request_(request),
        context_(context),
        settings_(context.globals.settings()),
        filter_(request.filter.filter(records::wall_time_now())),
        store_(drain::open_store(settings_, request.filter.store_kind(), dead_letter_log(context.console))) {}

  int run() {
    std::vector<FoundLetter> named = find_named();
    if (!request_.confirmed) {
      say_what_would_be(named);
      return exit_ok;
    }
    Client client(settings_, log_to(context_.console));
    const drain::DrainerLock lock(client, *store_, request_.command);
    Remover remover(*store_, lock, request_, context_.console);
    if (request_.ids.empty()) {
      store_->scan(filter_, remover);
    } else {
      visit(named, remover);
    }
    remover.finish();
    store_->settle();
    if (request_.resolution == drain::Resolution::purged) store_->delete_resolved();
    say_what_was_done(remover);
    return exit_ok;
  }

 private:
  // All of them, or none: a misspelt id must not be noticed after the others have gone.
  std::vector<FoundLetter> find_named() {
    std::vector<FoundLetter> found;
    for (const std::string& id : request_.ids) {
      auto letter = look_up(*store_, id);
      if (!letter) throw_unknown_letter(*store_, id);
      found.push_back(std::move(*letter));
    }
    return found;
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
      text += " and " + std::to_string(letters.unreadable_letters) + " records that cannot be read";
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
    std::string text = "forelock dlq " + request_.command + request_.filter.words() + repeat_words(context_.globals);
    if (request_.all) text += " --all";
    text += ' ' + request_.confirmation;
    for (const std::string& id : request_.ids) text += ' ' + shell_quoted(id);
    return text;
  }

  void say_what_was_done(const Remover& remover) const {
    const std::string done(name_of(request_.resolution));  // "parked", "purged"
    if (!context_.console.text()) {
      context_.console.write_json(
          {{done, remover.letters()}, {"unreadable", remover.unreadable_letters()}, {"store", store_->describe()}});
      return;
    }
    std::string text = done + ' ' + count_of_letters(remover.letters());
    if (remover.unreadable_letters() > 0)
      text += " and " + std::to_string(remover.unreadable_letters()) + " records that cannot be read";
    context_.console.write(text + '\n');
  }

  const LetterRemoval& request_;
  const Context& context_;
  const Settings settings_;
  const drain::LetterFilter filter_;
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
