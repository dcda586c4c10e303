// forelock sweep: removes unused monitors that crashed processes have left.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/monitors/release_note.h"
#include "cli/monitors/servers_text.h"
#include "cli/output/quantity_text.h"
#include "client/client_core.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"
#include "lock/limits.h"
#include "lock/monitor_name.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

// After a release by force the names of a monitor's nodes are not to come again as long as the removed holder may send
// a request for them: one that could place no watch learns of its loss only at the end of its section.
constexpr milliseconds least_after_release = std::chrono::hours(24);

// Read at a time, so that a namespace of millions takes no more memory than its names.
constexpr std::size_t batch = 1000;

// Made and deleted in one transaction, so that no reader sees it; no monitor has such a name (lock/monitor_name.h).
constexpr const char* clock_node = "/%forelock-clock";

struct Unused {
  std::string name;
  std::int32_t version = 0;
};

struct Sweep {
  std::vector<std::string> removed;
  std::size_t in_use = 0;
  std::size_t too_young = 0;
  std::size_t of_others = 0;
  std::size_t unreadable = 0;  // not permitted to us
};

class SweepCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("sweep", "Remove unused monitors that crashed processes have left behind");
    add_duration(*app, "--older-than", older_than_, "Leave those that were made later than this ago (default: 1m)");
    app->add_flag("--dry-run", dry_run_, "Say what would be removed, and remove nothing");
    app->footer(
        "Clients remove their unused monitors themselves (zookeeper.monitor.linger). Monitors in use, and those that\n"
        "other programs have made, stay; so does one for a day after 'forelock release'.\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    require_namespace(*client);
    Sweep sweep;
    all_of(client->core()->ensemble(), patience(settings), sweep);
    report(sweep, context, settings);
    return exit_ok;
  }

 private:
  void all_of(client::EnsembleLink& ensemble, milliseconds within, Sweep& sweep) const {
    const auto deadline = [within] { return std::chrono::steady_clock::now() + within; };
    coordination::Reply root = client::RequestPipeline(ensemble, deadline()).ask(coordination::List{"/"});
    if (root.code == coordination::ReplyCode::no_node) return;
    if (!root.ok()) client::throw_reply_error(root.code, {}, "cannot list the namespace");
    const milliseconds server_time = time_of_the_server(ensemble, deadline());
    std::vector<std::string> names = std::move(root.children);
    std::erase_if(names, [](const std::string& name) {
      return name == "zookeeper" || name.starts_with(lock::reserved_start);  // the server's own, and ours
    });
    std::sort(names.begin(), names.end());
    for (std::size_t from = 0; from < names.size(); from += batch) {
      const std::size_t end = std::min(names.size(), from + batch);
      std::vector<coordination::Request> requests;
      for (std::size_t i = from; i < end; ++i) requests.emplace_back(coordination::Get{'/' + names[i]});
      const auto replies = client::RequestPipeline(ensemble, deadline()).ask(std::move(requests));
      std::vector<Unused> unused;
      for (std::size_t i = from; i < end; ++i) {
        judge(names[i], replies[i - from], server_time, sweep, unused);
      }
      while (!unused.empty()) remove(ensemble, deadline(), sweep, unused);
    }
  }

  // By which the ages of nodes are counted: the clock of this machine may be hours ahead.
  static milliseconds time_of_the_server(client::EnsembleLink& ensemble,
                                         std::chrono::steady_clock::time_point deadline) {
    coordination::Transaction look;
    look.operations = {coordination::Create{clock_node, {}, coordination::CreateMode::ephemeral},
                       coordination::SetData{clock_node, {}}, coordination::Delete{clock_node}};
    const auto reply = client::RequestPipeline(ensemble, deadline).ask(std::move(look));
    if (!reply.ok()) client::throw_reply_error(reply.code, {}, "cannot ask the server for its time");
    return milliseconds(reply.operations.at(1).stat.mtime_ms);
  }

  void judge(const std::string& name, const coordination::Reply& node, milliseconds server_time, Sweep& sweep,
             std::vector<Unused>& unused) const {
    if (node.code == coordination::ReplyCode::no_node) return;  // gone meanwhile
    if (node.code == coordination::ReplyCode::no_auth) {
      ++sweep.unreadable;
      return;
    }
    if (!node.ok()) {
      const std::string monitor = lock::decode_monitor_name(name);
      client::throw_reply_error(node.code, monitor, "cannot read the monitor " + monitor);
    }
    if (!made_by_forelock(node.data)) {
      ++sweep.of_others;
    } else if (node.stat.children > 0) {
      ++sweep.in_use;
    } else if (server_time - milliseconds(node.stat.mtime_ms) <
               (node.stat.version > 0 ? std::max(older_than(), least_after_release) : older_than())) {
      ++sweep.too_young;
    } else {
      unused.push_back({name, node.stat.version});
    }
  }

  milliseconds older_than() const { return older_than_.value_or(std::chrono::minutes(1)); }

  // As many as go into one request. One that is in use after all is left out, and the others are asked for again.
  void remove(client::EnsembleLink& ensemble, std::chrono::steady_clock::time_point deadline, Sweep& sweep,
              std::vector<Unused>& unused) const {
    const std::size_t count = std::min(unused.size(), lock::most_removed_at_once);
    const auto end = unused.begin() + static_cast<std::ptrdiff_t>(count);
    if (!dry_run_) {
      coordination::Transaction removal;
      for (auto one = unused.begin(); one != end; ++one) {
        removal.operations.emplace_back(coordination::Delete{'/' + one->name, one->version});
      }
      const auto reply = client::RequestPipeline(ensemble, deadline).ask(std::move(removal));
      if (!reply.ok()) {
        using coordination::ReplyCode;
        const bool in_use = reply.code == ReplyCode::not_empty || reply.code == ReplyCode::bad_version;
        const bool of_one = (in_use || reply.code == ReplyCode::no_node) && reply.refused_operation;
        if (!of_one) client::throw_reply_error(reply.code, {}, "cannot remove unused monitors");
        if (in_use) ++sweep.in_use;
        unused.erase(unused.begin() + static_cast<std::ptrdiff_t>(*reply.refused_operation));
        return;
      }
    }
    for (auto one = unused.begin(); one != end; ++one) sweep.removed.push_back(lock::decode_monitor_name(one->name));
    unused.erase(unused.begin(), end);
  }

  void report(const Sweep& sweep, const Context& context, const Settings& settings) const {
    if (!context.console.text()) {
      context.console.write_json({{dry_run_ ? "would_remove" : "removed", sweep.removed},
                                  {"in_use", sweep.in_use},
                                  {"too_young", sweep.too_young},
                                  {"of_others", sweep.of_others},
                                  {"unreadable", sweep.unreadable}});
      return;
    }
    for (const std::string& monitor : sweep.removed) context.console.write(printable(monitor) + '\n');
    context.console.note(
        (dry_run_ ? "would remove " : "removed ") + std::to_string(sweep.removed.size()) + " unused monitors at " +
        servers_text(settings) + "; left " + std::to_string(sweep.in_use) + " in use, " +
        std::to_string(sweep.too_young) + " too young, " + std::to_string(sweep.of_others) + " of other programs" +
        (sweep.unreadable == 0 ? "" : ", " + std::to_string(sweep.unreadable) + " that we may not read"));
  }

  std::optional<milliseconds> older_than_;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() {
  return std::make_unique<SweepCommand>();
}

}  // namespace forelock::cli
