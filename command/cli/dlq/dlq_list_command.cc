// forelock dlq list: the letters, one a line.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/letter_lookup.h"
#include "cli/dlq/letters_json.h"
#include "cli/dlq/letters_text.h"
#include "cli/dlq/result_stream.h"
#include "cli/exit_code.h"
#include "cli/output/json_output.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

// Writes what it visits, in any of the three forms, and forgets it.
class Listing final : public drain::LetterVisitor {
 public:
  Listing(const Console& console, std::uint64_t limit, bool narrowed)
      : console_(console),
        limit_(limit),
        narrowed_(narrowed),
        now_(records::wall_time_now()),
        table_(letter_columns(), console),
        out_(console) {
    if (console_.format() == Format::json) out_.write("{\"letters\":[");
  }

  bool letter(const drain::StoredLetter& letter) override {
    ++letters_;
    if (console_.text()) {
      table_.add(row_of(letter, now_));
    } else {
      write(json_of(letter, now_));
    }
    return !is_full();
  }

  bool unreadable(const drain::UnreadableLetter& letter) override {
    ++unreadable_;
    if (console_.text()) {
      table_.add(row_of(letter));
    } else {
      write(json_of(letter));
    }
    return !is_full();
  }

  void finish(const drain::LetterStore& store) {
    if (console_.text()) {
      table_.finish();
      console_.note(summary(store));
      return;
    }
    if (console_.format() == Format::json) out_.write("]}\n");
    out_.flush();
  }

 private:
  std::uint64_t count() const { return letters_ + unreadable_; }
  bool is_full() const { return limit_ > 0 && count() >= limit_; }

  void write(const nlohmann::ordered_json& json) {
    if (console_.format() == Format::ndjson) return out_.write_json(json);
    if (count() > 1) out_.write(",");
    out_.write(json_text(json));
  }

  std::string summary(const drain::LetterStore& store) const {
    if (count() == 0)
      return std::string("no dead letter ") + (narrowed_ ? "of this kind " : "") + "in the " + store.describe();
    std::string text = count_of_letters(letters_) + " in the " + store.describe();
    if (unreadable_ > 0) text += ", " + base::counted(unreadable_, "record") + " that cannot be read";
    if (is_full()) text += " (there may be more: --limit)";
    return text + "; all about one: forelock dlq show ID";
  }

  const Console& console_;
  std::uint64_t limit_;
  bool narrowed_;  // whether a filter is at work
  WallTime now_;
  StreamedTable table_;
  ResultStream out_;
  std::uint64_t letters_ = 0;
  std::uint64_t unreadable_ = 0;
};

class DlqListCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("list", "List dead letters, oldest first within a monitor");
    filter_.add_to(*app);
    app->add_option("--limit", limit_, "Show at most N letters (0 = all) [0]")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber.description(""));
    app->footer("Example: forelock dlq list --since 2h --reason lock_timeout");
    return app;
  }

  int run(const Context& context) override {
    drain::LetterFilter filter = filter_.filter(records::wall_time_now());
    const auto store = open_letters(context, filter_.store_kind());
    complete_ids(*store, filter.ids, Purpose::look);
    Listing listing(context.console, limit_, !filter.empty() || filter.parked);
    store->scan(filter, listing);
    listing.finish(*store);
    return exit_ok;
  }

 private:
  DlqFilter filter_;
  std::uint64_t limit_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_dlq_list_command() {
  return std::make_unique<DlqListCommand>();
}

}  // namespace forelock::cli
