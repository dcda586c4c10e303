// forelock audit: what was done to the locks and letters of others.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "base/counted.h"
#include "cli/audit_file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/output/quantity_text.h"
#include "cli/output/text_table.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_in(const Json& act, const char* name) {
  const auto found = act.find(name);
  return found != act.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class AuditCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("audit", "Show what was done to locks and letters by force, and who did it");
    app->add_option("-m,--monitor", monitor_, "Only what was done to this monitor")->type_name("MONITOR");
    app->add_option("--action", action_,
                    "Only acts of this kind: release, unlock, prioritize, purge, park, replay, unpark, import, forward")
        ->type_name("ACTION");
    app->add_option("--since", since_, "Only what was done after this: 2025-11-21T03:00:00Z, or an age such as 24h")
        ->type_name("TIME");
    app->footer(
        "It reads the audit file (--audit-file, $FORELOCK_AUDIT_FILE), into which those commands write. An act is\n"
        "there when it begins, and again with its result; one with 'begun' alone was cut short, and may be done.\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    const std::optional<WallTime> begin =
        since_.empty() ? std::nullopt : parse_instant(since_, records::wall_time_now());
    if (!since_.empty() && !begin)
      throw_usage("--since " + since_ + ": not a time", "for example 2025-11-21T03:00:00Z, or 24h");
    const std::string& path = AuditFile::instance().path();
    if (path.empty()) throw_usage("audit: no audit file is named", "--audit-file FILE, or $FORELOCK_AUDIT_FILE");
    std::ifstream file(path);
    if (!file) {
      throw FailureException({exit_output,
                              "audit",
                              "cannot read the audit file " + path + ": " + std::generic_category().message(errno),
                              {},
                              {},
                              false,
                              {}});
    }
    std::size_t unreadable = 0;
    const Json acts = read(file, begin, unreadable);
    if (unreadable > 0) context.console.warn(base::counted(unreadable, "line") + " of " + path + " cannot be read");
    report(acts, context.console);
    return exit_ok;
  }

 private:
  Json read(std::ifstream& file, const std::optional<WallTime>& begin, std::size_t& unreadable) const {
    Json acts = Json::array();
    for (std::string line; std::getline(file, line);) {
      Json act = Json::parse(line, nullptr, false);
      const auto at = act.is_object() ? records::parse_wall_time(text_in(act, "at")) : std::nullopt;
      if (!at) {
        ++unreadable;
      } else if ((!begin || *at >= *begin) && is_wanted(act)) {
        acts.push_back(std::move(act));
      }
    }
    return acts;
  }

  bool is_wanted(const Json& act) const {
    if (monitor_ && text_in(act, "monitor") != *monitor_) return false;
    return action_.empty() || text_in(act, "action") == action_;
  }

  static void report(const Json& acts, const Console& console) {
    if (console.format() == Format::json) return console.write_json({{"acts", acts}});
    if (console.format() == Format::ndjson) {
      for (const Json& act : acts) console.write_json(act);
      return;
    }
    if (acts.empty()) return console.note("there is nothing of that kind on record");
    TextTable table({{"AT"}, {"ACTION"}, {"MONITOR OR STORE"}, {"BY"}, {"RESULT"}, {"WHY OR WHICH"}});
    for (const Json& act : acts) {
      table.add({{text_in(act, "at")},
                 {text_in(act, "action")},
                 {text_in(act, act.contains("monitor") ? "monitor" : "store")},
                 {text_in(act, "by")},
                 {text_in(act, "result")},
                 {text_in(act, act.contains("reason") ? "reason" : "which")}});
    }
    console.write(table.str(console));
  }

  std::optional<std::string> monitor_;
  std::string action_;
  std::string since_;
};

}  // namespace

std::unique_ptr<Command> make_audit_command() {
  return std::make_unique<AuditCommand>();
}

}  // namespace forelock::cli
