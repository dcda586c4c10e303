// forelock doctor: what is wrong between us and the servers, and what to do about it.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/doctor/doctor_checks.h"
#include "cli/exit_code.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Health health) {
  return health == Health::ok ? "ok" : health == Health::warn ? "warn" : "fail";
}

std::string text_of(const Finding& finding, const Console& console) {
  const Style style = finding.health == Health::ok     ? Style::good
                      : finding.health == Health::warn ? Style::warning
                                                       : Style::bad;
  const char* label = finding.health == Health::ok ? "OK  " : finding.health == Health::warn ? "WARN" : "FAIL";
  std::string text = console.styled(label, style) + "  " + finding.check + ": " + printable(finding.message) + '\n';
  if (!finding.hint.empty()) text += "      -> " + printable(finding.hint) + '\n';
  return text;
}

Json json_of(const Finding& finding) {
  return {{"check", finding.check},
          {"status", name_of(finding.health)},
          {"message", finding.message},
          {"hint", finding.hint.empty() ? Json(nullptr) : Json(finding.hint)}};
}

class DoctorCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand(
        "doctor", "Check servers, session, speed, rights, limits and dead letters, and say what to do");
    app->add_flag("--quick", quick_,
                  "Only servers and session, for health checks: no lock, no listing, no dead letters");
    app->footer(
        "Exit 0 also with warnings: locks work then. With -q only warnings and failures are shown.\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    const DoctorScope scope = quick_ ? DoctorScope::quick : DoctorScope::all;
    DoctorReport report;
    examine_servers(settings, scope, report);
    if (report.exit_code() == exit_ok) {
      const CommandClient client(settings, context.console, client::ClientUse::looks);
      examine_session(*client, scope, report);
    }
    if (!quick_) examine_dead_letters(settings, log_to(context.console), report);
    present(report, context.console);
    return report.exit_code();
  }

 private:
  static std::string verdict(const DoctorReport& report) {
    const std::size_t warnings = report.warnings();
    const std::string count = std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings");
    if (report.exit_code() != exit_ok) return "Locks do not work: see FAIL above.";
    if (warnings == 0) return "All is well.";
    return count + (report.warns_of("chroot") ? "; no lock was tried." : "; locks work.");
  }

  static void present(const DoctorReport& report, const Console& console) {
    Json checks = Json::array();
    for (const Finding& finding : report.findings()) {
      if (console.text()) {
        if (!console.quiet() || finding.health != Health::ok) console.write(text_of(finding, console));
      } else if (console.format() == Format::ndjson) {
        console.write_json(json_of(finding));
      } else {
        checks.push_back(json_of(finding));
      }
    }
    const bool well = report.warnings() == 0 && report.exit_code() == exit_ok;
    if (console.text() && !(console.quiet() && well)) console.write(verdict(report) + '\n');
    if (console.format() == Format::json)
      console.write_json(Json{{"ok", report.exit_code() == exit_ok}, {"checks", checks}});
  }

  bool quick_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace forelock::cli
