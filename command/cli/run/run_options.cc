#include "cli/run/run_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "cli/failure.h"
#include "cli/left_behind.h"
#include "cli/output/quantity_text.h"
#include "cli/run/locked_child.h"
#include "config/option_table.h"
#include "forelock/operation.h"
#include "forelock/owner_record.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

std::vector<std::string> priority_names() {
  std::vector<std::string> names;
  for (const Priority priority : all_priorities) names.emplace_back(name_of(priority));
  return names;
}

constexpr milliseconds default_kill_after{1000};
constexpr milliseconds least_connect_time{1000};
constexpr std::size_t longest_default_info = 100;
constexpr std::size_t longest_usual_instance = 80;
constexpr std::size_t guid_length = 36;
constexpr const char* retry_group = "As an operation";

// The default of --info: the command.
std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (text.size() + word.size() > longest_default_info) return text + "…";
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// What the command around this one has locked, if there is one, and the variable that says so.
std::vector<std::pair<std::string, std::string>> monitors_around() {
  std::vector<std::pair<std::string, std::string>> monitors;
  if (const char* const one = std::getenv("FORELOCK_MONITOR")) monitors.emplace_back(one, "$FORELOCK_MONITOR");
  const char* const several = std::getenv("FORELOCK_MONITORS");
  if (several == nullptr) return monitors;
  const auto json = nlohmann::json::parse(several, nullptr, false);
  if (!json.is_array()) return monitors;
  for (const auto& monitor : json) {
    if (monitor.is_string()) monitors.emplace_back(monitor.get<std::string>(), "$FORELOCK_MONITORS");
  }
  return monitors;
}

}  // namespace

void RunOptions::add_to(CLI::App& app) {
  app.add_option("-m,--monitor", monitors, "The id of the monitor to lock; may be repeated: all of them or none")
      ->type_name("MONITOR")
      ->allow_extra_args(false)
      ->required();
  app.add_option("-p,--priority", priority, "foreground goes before background [foreground]")
      ->type_name("CLASS")
      ->check(CLI::IsMember(priority_names()));
  app.add_option("--info", info, "Short description of why the lock is taken [the command]")->type_name("TEXT");
  add_duration(app, "--timeout", timeout,
               "Wait this long for the lock (30s, 5m; a plain number is ms), and for a server; 0: not at all [the "
               "class's configured time]");
  app.add_option("-E,--conflict-exit-code", conflict_code, "Exit code when the lock is not obtained in time [75]")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255).description(""));
  app.add_option("--on-lost", on_lost, "When the lock is lost: term ends the command, warn lets it continue [term]")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"term", "warn"}));
  add_duration(app, "--kill-after", kill_after, "From TERM to KILL when the lock is lost [1000]");
  add_duration(app, "--expected-runtime", expected_runtime,
               "How long the command should take: 'forelock show' tells when it takes longer");
  add_duration(app, "--auto-unlock-after", auto_unlock_after,
               "An unlocker ('forelock serve --unlocker') may take the lock away so long after the grant [never]");
  app.add_flag("--retry", retry,
               "Retry when the lock is not obtained or the command ends with 75; after the last: a dead letter")
      ->group(retry_group);
  app.add_option("--type", type, "The type of the operation [the command's name]")
      ->type_name("TEXT")
      ->group(retry_group);
  app.add_option("--payload", payload, "The command's stdin at each attempt; -: read once from our stdin")
      ->type_name("FILE")
      ->group(retry_group);
  app.add_option("--id", id, "The operation's id, and that of its dead letter [a random one]")
      ->type_name("ID")
      ->group(retry_group);
  app.add_option("COMMAND", command, "The command to run, after --")->required();
  app.footer(
      "Examples: forelock run -m P1 --timeout 30s -- ./save.sh\n"
      "          forelock run -m nightly --timeout 0 -q -E 0 -- ./nightly.sh    (skipped while another runs)\n"
      "          forelock run -m P1 -m P2 -m P3 -- ./merge.sh                   (all three, without deadlock)\n"
      "          forelock run -m P1 --retry --type saveContent --payload article.json -- ./save.sh\n"
      "The lock is held until COMMAND ends, not until what it left in the background does. When the lock is lost, all\n"
      "its descendants are ended, in whatever process group.\n"
      "Options for every command: see forelock --help");
}

void RunOptions::note_doubts(const Console& console) const {
  if (!console.text()) return;
  for (const auto& [outer, variable] : monitors_around()) {
    if (std::find(monitors.begin(), monitors.end(), outer) == monitors.end()) continue;
    console.note("this command runs under the lock on " + outer + " already (" + variable +
                 "): if that is held by the command around it, both wait for each other");
  }
  const std::size_t said = info.size();
  OwnerRecord record;
  record.lock_info = lock_info();
  record.instance = std::string(longest_usual_instance, 'x');
  record.guid = std::string(guid_length, 'x');
  const std::optional<OwnerRecord> kept = OwnerRecord::from_json(record.to_json());
  if (kept && kept->lock_info.size() < said) {
    console.note("--info has " + std::to_string(said) + " bytes; about the first " +
                 std::to_string(kept->lock_info.size()) + " are kept");
  }
}

void RunOptions::check() const {
  if (retry && expected_runtime) throw_usage("run: --expected-runtime has no meaning with --retry");
  if (retry && auto_unlock_after) throw_usage("run: --auto-unlock-after has no meaning with --retry");
  if (!retry) {
    for (const auto& [value, name] : {std::pair(&type, "--type"), {&payload, "--payload"}, {&id, "--id"}}) {
      if (!value->empty()) throw_usage(std::string("run: ") + name + " needs --retry", "see: forelock run --help");
    }
    return;
  }
  if (monitors.size() > 1) {
    throw_usage("run: --retry takes one monitor",
                "a dead letter is of one monitor; without --retry several are possible");
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
  return parse_priority(priority).value();  // checked when it was given
}

std::string RunOptions::lock_info() const {
  std::string text = info.empty() ? joined(command) : info;
  if (retry) text.resize(base::cut_between_characters(text, Operation::max_lock_info_bytes));
  return text;
}

std::string RunOptions::operation_type() const {
  if (!type.empty()) return type;
  const std::string name = std::filesystem::path(command.front()).filename();
  return name.empty() ? command.front() : name;
}

GuardOptions RunOptions::guarding(const Client& client) const {
  const OnLost when_lost = on_lost == "warn" ? OnLost::warn : OnLost::terminate;
  GuardOptions result = guard_options(client, when_lost, kill_after.value_or(default_kill_after));
  result.adopt_orphans = true;
  return result;
}

LockWait RunOptions::waiting(const Settings& settings) const {
  LockWait wait;
  wait.limit = timeout.value_or(settings.timeout(lock_class()));
  wait.once = wait.limit.count() == 0;
  // A connection takes longer than a very short time for the lock.
  if (wait.limit < least_connect_time) wait.connect_within = least_connect_time;
  return wait;
}

Settings RunOptions::settings(const GlobalOptions& globals) const {
  Settings result = globals.settings();
  const std::string key(config::option(config::timeout_option(lock_class())).key);
  if (retry && !timeout && result.timeout(lock_class()).count() == 0) {
    throw_usage("run: " + key + "=0 has no meaning with --retry", "say how long each attempt may wait: --timeout 2s");
  }
  if (!timeout || timeout->count() == 0) return result;
  std::vector<Settings::Override> overrides = {{key, std::to_string(timeout->count()), "--timeout"}};
  const milliseconds delay = result.connection_delay();
  if (delay.count() > 0 && delay * result.connection_retry() < *timeout) {
    overrides.push_back({"zookeeper.connection.retry", std::to_string(*timeout / delay + 1), "--timeout"});
  }
  result.set(overrides);
  return result;
}

Settings read_settings(const RunOptions& options, const GlobalOptions& globals, SignalSource& signals) {
  const auto settings = std::make_shared<Settings>();
  do_unless_signalled([settings, options, globals] { *settings = options.settings(globals); }, signals);
  return *settings;
}

}  // namespace forelock::cli
