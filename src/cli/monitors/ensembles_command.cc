// forelock ensembles: the map by which clients find monitors in several ensembles, as each ensemble has it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/left_behind.h"
#include "client/client_core.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"
#include "ensembles/ensemble_map.h"
#include "ensembles/map_record.h"

namespace forelock::cli {
namespace {

std::string map_path() {
  return '/' + std::string(ensembles::map_node_name);
}

// A client of one ensemble, whatever map that has.
class OneEnsemble {
 public:
  OneEnsemble(const Settings& settings, const std::string& identity, const Console& console) {
    Settings one = settings;
    one.set("zookeeper.servers", identity);
    core_ = std::make_shared<client::ClientCore>(std::move(one), log_to(console), log_detail(console));
    core_->start(client::ClientUse::looks_at_any_map);
  }
  ~OneEnsemble() {
    try {
      do_or_leave_behind([core = core_] { core->close(); }, CommandClient::longest_close);
    } catch (const std::exception&) {
      core_->close();  // no thread is to be had: it takes as long as it takes
    }
  }
  OneEnsemble(const OneEnsemble&) = delete;
  OneEnsemble& operator=(const OneEnsemble&) = delete;

  coordination::Reply ask(coordination::Request request) {
    const std::chrono::milliseconds longest = patience(core_->settings());
    if (!core_->wait_connected(longest)) {
      const std::string problem = core_->last_problem();
      throw ConnectionLossException(
          ErrorCode::connection_loss, {},
          "no connection to " + core_->link(0).name() + (problem.empty() ? "" : ": ") + problem, "forelock doctor");
    }
    const auto deadline = std::chrono::steady_clock::now() + longest;
    coordination::Reply reply = client::RequestPipeline(core_->link(0), deadline).ask(std::move(request));
    if (!reply.ok() && reply.code != coordination::ReplyCode::no_node) {
      client::throw_reply_error(reply.code, {}, "cannot use the map of " + core_->link(0).name());
    }
    return reply;
  }

 private:
  std::shared_ptr<client::ClientCore> core_;
};

struct Finding {
  std::string state;  // "none", "proposed", "agreed" or "other"
  std::string difference;
};

class EnsemblesCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("ensembles", "Show the map of ensembles that clients have agreed on");
    app->add_flag("--forget", forget_, "Remove it from these ensembles; the next client makes its own");
    app->add_flag("--all-clients-are-stopped", stopped_, "With --forget: that this is so");
    app->footer(
        "With several ensembles in zookeeper.servers each monitor lives in one of them, by a map that all clients\n"
        "share: one with another map serves no lock. Exit 78 if an ensemble has another map than these settings.\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    const ensembles::EnsembleMap map = map_of(settings);
    if (forget_) return forget(map, settings, context.console);
    std::vector<Finding> findings;
    for (std::size_t i = 0; i < map.size(); ++i) findings.push_back(look(map, i, settings, context.console));
    show(map, findings, context.console);
    const bool differs =
        std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.state == "other"; });
    return differs ? exit_configuration : exit_ok;
  }

 private:
  static ensembles::EnsembleMap map_of(const Settings& settings) {
    std::vector<std::string> identities;
    for (const std::vector<ServerAddress>& servers : settings.ensembles()) {
      identities.push_back(ensembles::identity_of(servers, settings.chroot()));
    }
    return ensembles::EnsembleMap(std::move(identities));
  }

  static Finding look(const ensembles::EnsembleMap& map, std::size_t number, const Settings& settings,
                      const Console& console) {
    const std::string& identity = map.identities()[number];
    const coordination::Reply reply = OneEnsemble(settings, identity, console).ask(coordination::Get{map_path()});
    if (!reply.ok()) return {"none", {}};
    auto difference =
        map.size() == 1 ? ensembles::difference(identity, reply.data) : ensembles::difference(map, number, reply.data);
    if (difference) return {"other", *std::move(difference)};
    return {ensembles::map_record_from_json(reply.data)->agreed ? "agreed" : "proposed", {}};
  }

  static void show(const ensembles::EnsembleMap& map, const std::vector<Finding>& findings, const Console& console) {
    if (console.text()) {
      for (std::size_t i = 0; i < map.size(); ++i) {
        console.write(map.identities()[i] + "  " + findings[i].state + '\n');
        if (!findings[i].difference.empty()) console.write("  " + printable(findings[i].difference) + '\n');
      }
      return;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < map.size(); ++i) {
      nlohmann::ordered_json one{{"ensemble", map.identities()[i]}, {"map", findings[i].state}};
      if (!findings[i].difference.empty()) one["difference"] = findings[i].difference;
      list.push_back(std::move(one));
    }
    console.write_json({{"fingerprint", map.fingerprint()}, {"ensembles", std::move(list)}});
  }

  int forget(const ensembles::EnsembleMap& map, const Settings& settings, const Console& console) const {
    if (!stopped_) {
      throw_usage("clients that run would not notice that the map is gone, and could hold a monitor twice",
                  "stop all of them, then add --all-clients-are-stopped");
    }
    nlohmann::ordered_json forgotten = nlohmann::ordered_json::array();
    for (const std::string& identity : map.identities()) {
      if (!OneEnsemble(settings, identity, console).ask(coordination::Delete{map_path()}).ok()) continue;
      forgotten.push_back(identity);
      if (console.text()) console.write(identity + "  forgotten\n");
    }
    if (!console.text()) console.write_json({{"forgotten", std::move(forgotten)}});
    return exit_ok;
  }

  bool forget_ = false;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ensembles_command() {
  return std::make_unique<EnsemblesCommand>();
}

}  // namespace forelock::cli
