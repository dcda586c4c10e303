#include "cli/monitors/sweep.h"

#include <algorithm>
#include <utility>

#include "cli/monitors/release_note.h"
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

class Sweeper {
 public:
  Sweeper(client::EnsembleLink& ensemble, const SweepOptions& options) : ensemble_(ensemble), options_(options) {}

  SweepReport run() {
    coordination::Reply root = client::RequestPipeline(ensemble_, deadline()).ask(coordination::List{"/"});
    if (root.code == coordination::ReplyCode::no_node) return report_;
    if (!root.ok()) client::throw_reply_error(root.code, {}, "cannot list the namespace");
    const milliseconds server_time = time_of_the_server();
    std::vector<std::string> names = std::move(root.children);
    std::erase_if(names, [](const std::string& name) {
      return name == "zookeeper" || name.starts_with(lock::reserved_start);  // the server's own, and ours
    });
    std::sort(names.begin(), names.end());
    for (std::size_t from = 0; from < names.size(); from += batch) {
      const std::size_t end = std::min(names.size(), from + batch);
      std::vector<coordination::Request> requests;
      for (std::size_t i = from; i < end; ++i) requests.emplace_back(coordination::Get{'/' + names[i]});
      const auto replies = client::RequestPipeline(ensemble_, deadline()).ask(std::move(requests));
      std::vector<Unused> unused;
      for (std::size_t i = from; i < end; ++i) judge(names[i], replies[i - from], server_time, unused);
      while (!unused.empty()) remove(unused);
    }
    return report_;
  }

 private:
  std::chrono::steady_clock::time_point deadline() const {
    return std::chrono::steady_clock::now() + options_.patience;
  }

  // By which the ages of nodes are counted: the clock of this machine may be hours ahead.
  milliseconds time_of_the_server() {
    coordination::Transaction look;
    look.operations = {coordination::Create{clock_node, {}, coordination::CreateMode::ephemeral},
                       coordination::SetData{clock_node, {}}, coordination::Delete{clock_node}};
    const auto reply = client::RequestPipeline(ensemble_, deadline()).ask(std::move(look));
    if (!reply.ok()) client::throw_reply_error(reply.code, {}, "cannot ask the server for its time");
    return milliseconds(reply.operations.at(1).stat.mtime_ms);
  }

  void judge(const std::string& name, const coordination::Reply& node, milliseconds server_time,
             std::vector<Unused>& unused) {
    if (node.code == coordination::ReplyCode::no_node) return;  // gone meanwhile
    if (node.code == coordination::ReplyCode::no_auth) {
      ++report_.unreadable;
      return;
    }
    if (!node.ok()) {
      const std::string monitor = lock::decode_monitor_name(name);
      client::throw_reply_error(node.code, monitor, "cannot read the monitor " + monitor);
    }
    const milliseconds older_than =
        node.stat.version > 0 ? std::max(options_.older_than, least_after_release) : options_.older_than;
    if (!made_by_forelock(node.data)) {
      ++report_.of_others;
    } else if (node.stat.children > 0) {
      ++report_.in_use;
    } else if (server_time - milliseconds(node.stat.mtime_ms) < older_than) {
      ++report_.too_young;
    } else {
      unused.push_back({name, node.stat.version});
    }
  }

  // As many as go into one request. One that is in use after all is left out, and the others are asked for again.
  void remove(std::vector<Unused>& unused) {
    const std::size_t count = std::min(unused.size(), lock::most_removed_at_once);
    const auto end = unused.begin() + static_cast<std::ptrdiff_t>(count);
    if (!options_.dry_run) {
      coordination::Transaction removal;
      for (auto one = unused.begin(); one != end; ++one) {
        removal.operations.emplace_back(coordination::Delete{'/' + one->name, one->version});
      }
      const auto reply = client::RequestPipeline(ensemble_, deadline()).ask(std::move(removal));
      if (!reply.ok()) {
        using coordination::ReplyCode;
        const bool in_use = reply.code == ReplyCode::not_empty || reply.code == ReplyCode::bad_version;
        const bool of_one = (in_use || reply.code == ReplyCode::no_node) && reply.refused_operation;
        if (!of_one) client::throw_reply_error(reply.code, {}, "cannot remove unused monitors");
        if (in_use) ++report_.in_use;
        unused.erase(unused.begin() + static_cast<std::ptrdiff_t>(*reply.refused_operation));
        return;
      }
    }
    for (auto one = unused.begin(); one != end; ++one) report_.removed.push_back(lock::decode_monitor_name(one->name));
    unused.erase(unused.begin(), end);
  }

  client::EnsembleLink& ensemble_;
  const SweepOptions& options_;
  SweepReport report_;
};

}  // namespace

SweepReport sweep(Client& client, const SweepOptions& options) {
  return Sweeper(client.core()->ensemble(), options).run();
}

}  // namespace forelock::cli
