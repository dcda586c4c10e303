// forelock watch: who holds what, as it goes on.
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/monitors/monitor_change.h"
#include "cli/monitors/monitor_choice.h"
#include "cli/monitors/views_json.h"
#include "cli/monitors/views_text.h"
#include "cli/output/quantity_text.h"
#include "cli/output/screen.h"
#include "client/monitor_reading.h"
#include "forelock/error.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds default_interval{1000};
constexpr milliseconds shortest_interval{50};
// Of the screen: the time, a blank one, the heading, "and N more", the cursor's.
constexpr std::size_t lines_around = 5;

class WatchCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app =
        root.add_subcommand("watch", "Show the holders and waiters live; with -o ndjson one event per line");
    app->footer(
        "It polls: what begins and ends between two looks is not seen. After a lost connection it waits for a new "
        "one.\n"
        "Options for every command: see forelock --help");
    app->add_option("MONITOR", monitor_, "Only this monitor");
    app->add_flag("--all,-a", all_, "Include idle monitors");
    choice_.add_to(*app);
    add_duration(*app, "--interval", interval_, "Look again after this long [1000]");
    app->add_option("--count", count_, "End after N looks (0 = never)")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber.description(""));
    return app;
  }

  int run(const Context& context) override {
    if (choice_.made() && is_of_events(context.console)) {
      throw_usage("watch: --sort, --waiting, --overdue and --limit are for the table at a terminal, and for -o json",
                  "or list them once: forelock ls");
    }
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    Inspector inspector(*client, patience(settings));
    const milliseconds interval = std::max(shortest_interval, interval_.value_or(default_interval));
    for (std::uint64_t look = 0;;) {
      if (auto monitors = look_at(*client, inspector, look > 0, context.console)) {
        present(context, *std::move(monitors), look == 0);
        if (++look == count_) return exit_ok;
      }
      std::this_thread::sleep_for(interval);
    }
  }

 private:
  static bool is_of_events(const Console& console) {
    return console.format() == Format::ndjson || (console.text() && !console.stdout_is_terminal());
  }

  // Nothing while there is no connection, if there has been one.
  std::optional<std::vector<MonitorSummary>> look_at(const Client& client, Inspector& inspector, bool patient,
                                                     const Console& console) {
    try {
      std::vector<MonitorSummary> monitors = monitor_.empty() ? inspector.list(all_) : look_at_one(client, inspector);
      if (monitor_.empty() && monitors.empty()) require_namespace(client);
      problem_.clear();
      return monitors;
    } catch (const Error& error) {
      if (!patient || !error.retryable()) throw;
      if (std::exchange(problem_, error.what()) != error.what())
        console.note(std::string(error.what()) + "; trying again");
      return std::nullopt;
    }
  }

  std::vector<MonitorSummary> look_at_one(const Client& client, Inspector& inspector) const {
    const std::optional<MonitorView> view = inspector.show(monitor_);
    if (!view) require_namespace(client);
    if (!view || (!all_ && !view->holder && view->queue.empty())) return {};
    return {client::summary_of(*view)};
  }

  void present(const Context& context, std::vector<MonitorSummary> monitors, bool first) {
    const Console& console = context.console;
    if (is_of_events(console)) {
      MonitorsById now;
      for (MonitorSummary& summary : monitors) {
        std::string id = summary.monitor;
        now.emplace(std::move(id), std::move(summary));
      }
      report_changes(console, now, first);
      last_ = std::move(now);
    } else if (console.text()) {
      redraw(console, monitors);
    } else {
      choice_.apply(monitors);
      console.write_json(json_of(monitors));
    }
  }

  // What has room: of more the last lines would be seen, and not the first.
  void redraw(const Console& console, std::vector<MonitorSummary>& monitors) const {
    winsize screen{};
    const std::size_t rows = ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen) == 0 ? screen.ws_row : 0;
    const std::size_t more = choice_.apply(monitors, rows > lines_around ? rows - lines_around : SIZE_MAX);
    std::string text = text_of(monitors, console);
    if (text.empty()) text = choice_.made() ? "nothing of that kind\n" : "nothing is held or waited for\n";
    if (more > 0) text += "and " + std::to_string(more) + " more\n";
    console.write(redrawn(text));
  }

  void report_changes(const Console& console, const MonitorsById& now, bool first) const {
    if (first) {
      for (const auto& [id, summary] : now) report(console, "present", summary);
      return;
    }
    for (const MonitorChange& change : changes_between(last_, now)) report(console, change.kind, change.summary);
  }

  static void report(const Console& console, const std::string& change, const MonitorSummary& summary) {
    const std::string at = records::format_wall_time(records::wall_time_now());
    if (!console.text()) {
      nlohmann::ordered_json event = {{"event", change}, {"at", at}};
      event.update(json_of(summary));
      console.write_json(event);
      return;
    }
    std::string line = at + "  " + change + "  " + summary.monitor;
    if (summary.holder) line += "  " + who(summary.holder->owner, summary.holder->session);
    line += "  waiting " + std::to_string(summary.waiting_foreground) + " foreground, " +
            std::to_string(summary.waiting_background) + " background";
    console.write(printable(line) + '\n');
  }

  MonitorChoice choice_;
  std::string monitor_;
  bool all_ = false;
  std::optional<milliseconds> interval_;
  std::uint64_t count_ = 0;
  MonitorsById last_;
  std::string problem_;  // that was told last
};

}  // namespace

std::unique_ptr<Command> make_watch_command() {
  return std::make_unique<WatchCommand>();
}

}  // namespace forelock::cli
