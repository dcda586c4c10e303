// forelock dlq show: everything about one letter.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/letter_lookup.h"
#include "cli/dlq/letters_json.h"
#include "cli/dlq/letters_text.h"
#include "cli/exit_code.h"
#include "cli/hints.h"
#include "drain/open_store.h"
#include "forelock/error.h"
#include "forward/open_outbox.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

class DlqShowCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("show", "Show one dead letter, without its payload");
    app->add_option("ID", id_, "Its id or a unique beginning of it, or the position of an unreadable record")
        ->required();
    app->add_flag("--payload", payload_, "Write only the payload to stdout, unchanged");
    app->add_flag("--outbox", outbox_, "Read only this machine's outbox even if Kafka is configured");
    app->footer("Example: forelock dlq show 0a1b2c3d-… --payload > article.json");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    // What Kafka has not got yet is still a letter of this queue; and the outbox answers while Kafka does not.
    if (!outbox_ && forward::kafka_is_configured(settings) && waits_in_outbox(settings, context)) {
      if (context.console.text())
        context.console.note("it waits in this machine's outbox for Kafka: forelock dlq forward");
      return exit_ok;
    }
    const auto kind = outbox_ ? drain::StoreKind::outbox : drain::StoreKind::configured;
    if (!show_from(kind, settings, context)) {
      throw_unknown_letter(*open_letters(context, kind), id_);
    }
    return exit_ok;
  }

 private:
  // Who may not read the service's outbox still sees what is in Kafka.
  bool waits_in_outbox(const Settings& settings, const Context& context) const {
    try {
      return show_from(drain::StoreKind::outbox, settings, context);
    } catch (const Error& problem) {
      if (problem.code() != ErrorCode::outbox_unavailable) throw;
      context.console.note(printable(std::string("not looked into the outbox: ") + problem.what()));
      return false;
    }
  }

  // \returns whether it is there.
  bool show_from(drain::StoreKind kind, const Settings& settings, const Context& context) const {
    const auto store = drain::open_store(settings, kind, dead_letter_log(context.console), drain::StoreAccess::look);
    const std::optional<FoundLetter> found = look_up(*store, id_);
    if (!found) return false;
    if (const auto* letter = std::get_if<drain::StoredLetter>(&*found)) {
      show(*letter, context.console);
    } else {
      show(std::get<drain::UnreadableLetter>(*found), context.console);
    }
    return true;
  }

  void show(const drain::StoredLetter& stored, const Console& console) const {
    if (payload_) return console.write(stored.letter.payload);
    if (!console.text()) {
      // The record as it is stored, and where.
      auto json = nlohmann::ordered_json::parse(stored.record);
      json["position"] = stored.position;
      json["state"] = std::string(text_of(stored.state));
      json["tries"] = stored.tries;
      return console.write_json(json);
    }
    console.write(text_of(stored, records::wall_time_now(), console));
    const std::string id = shell_quoted(stored.letter.id);
    const std::string parked = stored.state == drain::LetterState::parked ? " --parked" : "";
    console.note("to see its payload: " + dead_letter_hint(stored.letter.id) + " --payload");
    console.note("to try it again:    forelock dlq replay --id " + id + parked + " --exec 'COMMAND' --execute");
  }

  void show(const drain::UnreadableLetter& letter, const Console& console) const {
    if (payload_) {
      throw FailureException({exit_failed,
                              letter.code,
                              letter.position + ": " + letter.message,
                              "its payload is not known",
                              {},
                              false,
                              {}});
    }
    if (console.text()) return console.write(text_of(letter, console));
    auto json = json_of(letter);
    json["record"] = letter.record;
    console.write_json(json);
  }

  std::string id_;
  bool payload_ = false;
  bool outbox_ = false;
};

}  // namespace

std::unique_ptr<Command> make_dlq_show_command() {
  return std::make_unique<DlqShowCommand>();
}

}  // namespace forelock::cli
