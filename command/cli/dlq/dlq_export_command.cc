// forelock dlq export: the records, one a line.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/letter_lookup.h"
#include "cli/dlq/letters_json.h"
#include "cli/dlq/letters_text.h"
#include "cli/dlq/result_stream.h"
#include "cli/exit_code.h"
#include "cli/output/json_output.h"
#include "cli/process/atomic_file.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

class Export final : public drain::LetterVisitor {
 public:
  Export(const Console& console, std::optional<AtomicFile>& file) : console_(console), file_(file), out_(console) {}

  bool letter(const drain::StoredLetter& letter) override {
    ++letters;
    const std::string line = escaped_json(one_line(letter.record)) + '\n';
    if (file_) {
      file_->write(line);
    } else {
      out_.write(line);
    }
    return true;
  }

  // It may hold line breaks, or anything: as a line it would be taken for a letter.
  bool unreadable(const drain::UnreadableLetter& letter) override {
    ++unreadable_letters;
    console_.warn(printable("left out: " + letter.position + ": " + letter.message + " (forelock dlq show " +
                            letter.position + " -o json)"));
    return true;
  }

  void finish() {
    out_.flush();
    if (file_) file_->commit();
  }

  std::uint64_t letters = 0;
  std::uint64_t unreadable_letters = 0;

 private:
  const Console& console_;
  std::optional<AtomicFile>& file_;
  ResultStream out_;
};

// Whatever it leads to: that file is the caller's, who has opened it.
bool names_stdout(const std::string& path) {
  struct stat file {};
  struct stat stream {};
  return path == "-" || (stat(path.c_str(), &file) == 0 && fstat(STDOUT_FILENO, &stream) == 0 &&
                         file.st_dev == stream.st_dev && file.st_ino == stream.st_ino);
}

class DlqExportCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("export", "Write the records, payloads included, one per line");
    filter_.add_to(*app);
    app->add_option("--output", output_, "Write to this file (mode 0600), atomically [-: stdout]")->type_name("FILE");
    app->add_flag("--force", force_, "Replace the file of --output if it exists");
    app->footer("Example: forelock dlq export --type saveContent --output letters.ndjson");
    return app;
  }

  int run(const Context& context) override {
    // Everywhere else, --output is the form.
    if (output_ == "json" || output_ == "ndjson" || output_ == "text") {
      throw_usage("export: --output names a file here, and " + output_ + " is a form",
                  "records are JSON, one a line, in any case; for a file of that name: --output ./" + output_);
    }
    drain::LetterFilter filter = filter_.filter(records::wall_time_now());
    const auto store = open_letters(context, filter_.store_kind());
    complete_ids(*store, filter.ids, Purpose::look);
    std::optional<AtomicFile> file;
    if (!output_.empty() && !names_stdout(output_)) file.emplace(output_, force_);
    Export records(context.console, file);
    store->scan(filter, records);
    records.finish();
    if (file) report(context.console, records);
    return exit_ok;
  }

 private:
  void report(const Console& console, const Export& records) const {
    if (console.text()) {
      console.note(count_of_letters(records.letters) + " in " + printable(output_));
    } else {
      console.write_json({{"file", output_}, {"letters", records.letters}, {"unreadable", records.unreadable_letters}});
    }
  }

  DlqFilter filter_;
  std::string output_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> make_dlq_export_command() {
  return std::make_unique<DlqExportCommand>();
}

}  // namespace forelock::cli
