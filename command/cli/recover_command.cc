// forelock recover: ends the sessions that a killed process has left in its session file.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/monitors/servers_text.h"
#include "client/dead_sessions.h"
#include "client/session_setup.h"
#include "records/session_text.h"
#include "session_file/session_file.h"

namespace forelock::cli {
namespace {

using session_file::Found;
using session_file::Refusal;
using session_file::SessionFile;
using zookeeper::SessionEnd;

struct Outcome {
  std::string session;
  std::string ensemble;
  const char* word = "";  // for programs
  std::string problem = {};
};

const char* word_of(SessionEnd end) {
  switch (end) {
    case SessionEnd::ended:
      return "ended";
    case SessionEnd::was_over:
      return "was_over";
    case SessionEnd::unknown:
      break;
  }
  return "unknown";
}

constexpr const char* of_others = "other_ensemble";

std::string text_of(const std::string& word) {
  if (word == "ended") return "ended: its locks are free";
  if (word == "was_over") return "was over already";
  if (word == of_others) return "left alone: it is not of these servers";
  return "not ended";
}

class RecoverCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("recover", "Free the locks of a killed process at once");
    app->add_option("FILE", file_, "The session file of that process (zookeeper.session.file)")->required();
    app->footer(
        "Ends the sessions in the file if nothing of their process is left: for ExecStopPost= of systemd, and for\n"
        "containers that start before the next one. Needs the settings of that process: servers, chroot, credentials.\n"
        "A process that is started with the same file does it by itself. Exit: 0 all are over, 1 something of the\n"
        "process lives or the file tells nothing, 69 no server has answered, 78 the file cannot be used.\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    const SessionFile::Opened opened = SessionFile::open(file_, false);
    if (const auto* refusal = std::get_if<Refusal>(&opened)) {
      if (refusal->reason != Refusal::Reason::absent) throw_refused(*refusal);
      return report(context, "absent", {}, "there is no " + printable(file_) + ": nothing to recover");
    }
    SessionFile& file = *std::get<std::shared_ptr<SessionFile>>(opened);
    if (file.found() == Found::copied) {
      throw FailureException(
          {exit_failed,
           "session_file_copied",
           printable(file_) + " is a copy of another file, and nothing is ended: its process may live",
           "name the file that the process has",
           {},
           false,
           {}});
    }
    if (file.found() == Found::torn) {
      throw FailureException(
          {exit_failed,
           "session_file_damaged",
           printable(file_) + " is damaged, and nothing is ended: its process was killed as it wrote",
           "its locks are free when their session has timed out",
           {},
           false,
           {}});
    }
    if (file.found() == Found::other_boot) {
      return report(context, "other_boot", {},
                    printable(file_) + " is from before the machine's last start: nothing to recover");
    }
    return end_all(context, settings, file);
  }

 private:
  int end_all(const Context& context, const Settings& settings, SessionFile& file) const {
    const std::string ensemble = client::ensemble_identity(settings);
    const auto options = client::session_options(settings);
    std::vector<Outcome> outcomes;
    for (const session_file::RecordedSession& session : file.left_behind()) {
      if (session.ensemble == ensemble) continue;
      outcomes.push_back({records::session_text(session.id), session.ensemble, of_others});
    }
    const bool others = !outcomes.empty();
    std::string unknown;
    for (const client::DeadSession& session : client::end_dead_sessions(file, ensemble, options)) {
      outcomes.push_back({records::session_text(session.id), ensemble, word_of(session.end), session.problem});
      if (session.end == SessionEnd::unknown) unknown += (unknown.empty() ? "" : "; ") + session.problem;
    }
    report(context, outcomes.empty() ? "empty" : "recovered", outcomes, "nothing to recover");
    const auto is_unknown = [](const Outcome& outcome) { return std::string(outcome.word) == "unknown"; };
    if (std::any_of(outcomes.begin(), outcomes.end(), is_unknown)) {
      throw FailureException({exit_unavailable,
                              std::string(name_of(ErrorCode::connection_loss)),
                              "no server has said that the sessions in " + printable(file_) +
                                  " are over: " + (unknown.empty() ? servers_text(settings) : unknown),
                              "forelock doctor; the file keeps them: the same command may be repeated",
                              {},
                              true,
                              {}});
    }
    if (others) {
      throw FailureException({exit_failed,
                              of_others,
                              printable(file_) + " has sessions that are not of " + servers_text(settings),
                              "give the settings of the process that was killed (--config, --zookeeper)",
                              {},
                              false,
                              {}});
    }
    return exit_ok;
  }

  [[noreturn]] void throw_refused(const Refusal& refusal) const {
    if (refusal.reason == Refusal::Reason::locked) {
      throw FailureException({exit_failed,
                              "session_file_in_use",
                              "nothing is ended: " + refusal.message,
                              "its process lives, or what it has started: fuser -v " + shell_quoted(file_),
                              {},
                              true,
                              {}});
    }
    throw FailureException({exit_configuration,
                            "session_file_unusable",
                            "nothing is ended: " + refusal.message,
                            refusal.hint,
                            {},
                            false,
                            {}});
  }

  int report(const Context& context, const char* state, const std::vector<Outcome>& outcomes,
             const std::string& nothing) const {
    if (context.console.text()) {
      for (const Outcome& outcome : outcomes) {
        context.console.write(outcome.session + ' ' + text_of(outcome.word) + '\n');
      }
      if (outcomes.empty()) context.console.note(nothing);
      return exit_ok;
    }
    nlohmann::ordered_json sessions = nlohmann::ordered_json::array();
    for (const Outcome& outcome : outcomes) {
      sessions.push_back({{"session", outcome.session}, {"ensemble", outcome.ensemble}, {"outcome", outcome.word}});
    }
    context.console.write_json({{"file", file_}, {"state", state}, {"sessions", sessions}});
    return exit_ok;
  }

  std::string file_;
};

}  // namespace

std::unique_ptr<Command> make_recover_command() {
  return std::make_unique<RecoverCommand>();
}

}  // namespace forelock::cli
