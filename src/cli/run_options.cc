#include "cli/run_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/duration_text.h"
#include "cli/failure.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds default_kill_after{1000};
constexpr std::size_t longest_default_info = 100;
constexpr const char* retry_group = "As an operation";

// What for, if nobody says: the command.
std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (text.size() + word.size() > longest_default_info) return text + "…";
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

}  // namespace

void RunOptions::add_to(CLI::App& app) {
  app.add_option("-m,--monitor", monitor, "The id of what is to be locked")->type_name("MONITOR")->required();
  app.add_option("-p,--priority", priority, "foreground goes before background [foreground]")
      ->type_name("CLASS")
      ->check(CLI::IsMember({"foreground", "background"}));
  app.add_option("--info", info, "What for, for people [the command]")->type_name("TEXT");
  add_duration(app, "--timeout", timeout, "Wait this long for the lock, 0: not at all [the class's configured time]");
  app.add_option("-E,--conflict-exit-code", conflict_code, "Exit code when the lock is not obtained in time [75]")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255).description(""));
  app.add_option("--on-lost", on_lost, "When the lock is lost: term ends the command, warn lets it go on [term]")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"term", "warn"}));
  add_duration(app, "--kill-after", kill_after, "From TERM to KILL when the lock is lost [1000]");
  app.add_flag("--retry", retry,
               "Try again when the lock is not to be had or the command ends with 75; in the end: a dead letter")
      ->group(retry_group);
  app.add_option("--type", type, "What kind of operation it is [the command's name]")
      ->type_name("TEXT")
      ->group(retry_group);
  app.add_option("--payload", payload, "What the command reads from stdin at each attempt; -: our stdin")
      ->type_name("FILE")
      ->group(retry_group);
  app.add_option("--id", id, "The operation's id, and that of its dead letter [a random one]")
      ->type_name("ID")
      ->group(retry_group);
  app.add_option("COMMAND", command, "What to run; behind --")->required();
  app.footer(
      "Example: forelock run -m P1 --retry --type saveContent --payload article.json -- ./save.sh\n"
      "Options for every command: see forelock --help");
}

void RunOptions::check() const {
  if (!retry) {
    for (const auto& [value, name] : {std::pair(&type, "--type"), {&payload, "--payload"}, {&id, "--id"}}) {
      if (!value->empty()) throw_usage(std::string("run: ") + name + " needs --retry", "see: forelock run --help");
    }
    return;
  }
  if (conflict_code) {
    throw_usage("run: -E has no meaning with --retry",
                "a lock that is not obtained in time is tried again, and in the end a dead letter (exit 79)");
  }
  if (timeout && timeout->count() == 0) {
    throw_usage("run: --timeout 0 has no meaning with --retry", "say how long each attempt may wait for the lock");
  }
}

Priority RunOptions::lock_class() const {
  return priority == "background" ? Priority::background : Priority::foreground;
}

std::string RunOptions::lock_info() const {
  return info.empty() ? joined(command) : info;
}

std::string RunOptions::operation_type() const {
  if (!type.empty()) return type;
  const std::string name = std::filesystem::path(command.front()).filename();
  return name.empty() ? command.front() : name;
}

OnLost RunOptions::when_lost() const {
  return on_lost == "warn" ? OnLost::warn : OnLost::terminate;
}

milliseconds RunOptions::from_term_to_kill() const {
  return kill_after.value_or(default_kill_after);
}

Settings RunOptions::settings(const GlobalOptions& globals) const {
  Settings result = globals.settings();
  if (timeout && timeout->count() > 0) {
    const char* key =
        lock_class() == Priority::foreground ? "zookeeper.foregound.task.timeout" : "zookeeper.backgound.task.timeout";
    result.set(key, std::to_string(timeout->count()), "--timeout");
  }
  return result;
}

}  // namespace forelock::cli
