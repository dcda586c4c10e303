// forelock dlq watch: the queue's depth, as it goes on.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/letters_text.h"
#include "cli/dlq/queue_reading.h"
#include "cli/exit_code.h"
#include "cli/output/quantity_text.h"
#include "cli/output/screen.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds default_interval{2000};
constexpr milliseconds shortest_interval{100};
constexpr std::size_t reasons_in_a_line = 5;
// A look reads the whole queue: on a broker in trouble that takes longer, and is load.
constexpr int pause_for_look = 9;

class DlqWatchCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app =
        root.add_subcommand("watch", "Show the queue's depth live; a line for each change if not a terminal");
    filter_.add_to(*app);
    add_duration(*app, "--interval", interval_, "Look again after this long [2000]");
    app->add_option("--count", count_, "End after N looks (0 = never)")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber.description(""));
    app->footer(
        "Each look reads the whole queue; if that takes long, the pause before the next one is nine times as long.\n"
        "Example: forelock dlq watch --interval 5s");
    return app;
  }

  int run(const Context& context) override {
    QueueReader reader(context.globals.settings(), filter_.store_kind(), dead_letter_log(context.console));
    const milliseconds interval = std::max(shortest_interval, interval_.value_or(default_interval));
    for (std::uint64_t look = 1;; ++look) {
      const auto begin = std::chrono::steady_clock::now();
      look_once(reader, context.console);
      if (count_ != 0 && look >= count_) return exit_ok;
      const std::chrono::steady_clock::duration pause = pause_for_look * (std::chrono::steady_clock::now() - begin);
      std::this_thread::sleep_for(std::max<std::chrono::steady_clock::duration>(interval, pause));
    }
  }

 private:
  // A broker that is away for a while is no reason to stop looking.
  void look_once(QueueReader& reader, const Console& console) {
    try {
      // An age such as --since 2h means two hours before each look.
      present(reader, reader.read(filter_.filter(records::wall_time_now())), console);
    } catch (const Error& error) {
      if (std::exchange(last_, error.what()) != error.what()) console.warn(printable(error.what()));
    }
  }

  void present(const QueueReader& reader, const QueueReading& reading, const Console& console) {
    if (console.format() == Format::json) return console.write_json(reader.json_of(reading));
    if (console.text() && console.stdout_is_terminal()) return console.write(redrawn(reader.text_of(reading, console)));
    const std::string change = line_of(reading);
    if (change == last_) return;
    last_ = change;
    if (!console.text()) return console.write_json(reader.json_of(reading));
    std::string age;
    if (reading.letters.oldest) age = "  oldest " + duration_text(age_of(*reading.letters.oldest, reading.at));
    console.write(printable(records::format_wall_time(reading.at) + "  " + change + age) + '\n');
  }

  // What a change is: all but the ages, which never stand still.
  static std::string line_of(const QueueReading& reading) {
    std::string line = count_of_letters(reading.letters.letters) + "  parked " +
                       std::to_string(reading.parked.letters) + "  outbox " +
                       (reading.outbox ? std::to_string(reading.outbox->rows) : "unreadable");
    if (reading.letters.unreadable_letters > 0)
      line += "  unreadable " + std::to_string(reading.letters.unreadable_letters);
    std::vector<std::pair<std::uint64_t, std::string>> reasons;
    for (const auto& [reason, count] : reading.letters.by_reason) reasons.emplace_back(count, reason);
    std::sort(reasons.begin(), reasons.end(), std::greater<>());
    for (std::size_t i = 0; i < std::min(reasons.size(), reasons_in_a_line); ++i)
      line += (i == 0 ? "  " : ", ") + reasons[i].second + ' ' + std::to_string(reasons[i].first);
    return line;
  }

  DlqFilter filter_;
  std::optional<milliseconds> interval_;
  std::uint64_t count_ = 0;
  std::string last_;
};

}  // namespace

std::unique_ptr<Command> make_dlq_watch_command() {
  return std::make_unique<DlqWatchCommand>();
}

}  // namespace forelock::cli
