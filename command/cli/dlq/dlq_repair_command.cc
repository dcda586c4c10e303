// forelock dlq repair: looks at every byte of this machine's outbox, and repairs what is damaged.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/letters_text.h"
#include "cli/exit_code.h"
#include "forward/open_outbox.h"
#include "outbox/outbox.h"

namespace forelock::cli {
namespace {

class DlqRepairCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("repair", "Check this machine's outbox, and repair it if it is damaged");
    app->footer(
        "A damaged file is kept under another name next to it; its readable letters are copied into a new one.\n"
        "Example: forelock dlq repair");
    return app;
  }

  int run(const Context& context) override {
    outbox::OutboxOptions options =
        forward::outbox_options(context.globals.settings(), dead_letter_log(context.console));
    std::error_code error;
    if (!std::filesystem::exists(options.path, error) && !error) {
      context.console.note("there is no outbox " + options.path.string());
      return exit_ok;
    }
    outbox::Outbox outbox(options);
    outbox.check();
    report(context.console, outbox);
    return exit_ok;
  }

 private:
  static void report(const Console& console, const outbox::Outbox& outbox) {
    const outbox::OutboxDepth depth = outbox.depth();
    if (!console.text()) {
      console.write_json({{"outbox", outbox.path().string()}, {"letters", depth.rows}, {"parked", depth.parked}});
      return;
    }
    console.write(printable("the outbox " + outbox.path().string() + " is whole: " + count_of_letters(depth.rows) +
                            ", " + (depth.parked == 0 ? "none" : std::to_string(depth.parked)) + " parked") +
                  '\n');
  }
};

}  // namespace

std::unique_ptr<Command> make_dlq_repair_command() {
  return std::make_unique<DlqRepairCommand>();
}

}  // namespace forelock::cli
