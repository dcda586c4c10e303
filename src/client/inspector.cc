#include "forelock/inspector.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "client/client_core.h"
#include "client/monitor_reading.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"
#include "forelock/error.h"
#include "lock/child_name.h"
#include "lock/monitor_name.h"
#include "records/guid.h"
#include "records/session_text.h"
#include "records/wall_time.h"

namespace forelock {
namespace {

using client::ClientCore;
using client::EnsembleLink;
using client::MonitorReading;
using client::RequestPipeline;
using coordination::Get;
using coordination::List;
using coordination::Reply;
using coordination::ReplyCode;
using coordination::Request;

using Instant = std::chrono::steady_clock::time_point;

std::string encoded_or_throw(const std::string& monitor) {
  lock::EncodedName encoded = lock::encode_monitor_name(monitor);
  if (!encoded)
    throw RequestRejectedException(ErrorCode::invalid_argument, monitor, "the monitor id " + encoded.problem);
  return *std::move(encoded.name);
}

std::string private_lock_path(const std::string& path) {
  return path + '/' + std::string(lock::private_lock_name);
}

// A node that went away between two reads is no error: the queue moves while it is looked at.
bool is_there(const Reply& reply, const std::string& monitor, const char* what) {
  if (reply.code == ReplyCode::no_node) return false;
  if (!reply.ok()) client::throw_reply_error(reply.code, monitor, what);
  return true;
}

// A monitor whose children have been listed.
struct Listed {
  std::string name;  // of its node
  std::vector<std::string> contenders;
  bool has_private_lock = false;

  std::string path() const { return '/' + name; }
};

Listed listed(std::string name, const std::vector<std::string>& children) {
  const bool has_private_lock = std::find(children.begin(), children.end(), lock::private_lock_name) != children.end();
  return {std::move(name), client::contender_names(children), has_private_lock};
}

// Requests for all nodes of these monitors at once; the answers come in the same order. `closed` gets the places of
// those with a node that we may not read; without it that is an error.
std::vector<MonitorReading> read_nodes(RequestPipeline& pipeline, const std::vector<Listed>& monitors,
                                       std::set<std::size_t>* closed = nullptr) {
  std::vector<Request> requests;
  for (const Listed& monitor : monitors) {
    if (monitor.has_private_lock) requests.emplace_back(Get{private_lock_path(monitor.path())});
    for (const std::string& name : monitor.contenders) requests.emplace_back(Get{monitor.path() + '/' + name});
  }
  std::vector<Reply> replies = pipeline.ask(std::move(requests));
  std::vector<MonitorReading> readings;
  readings.reserve(monitors.size());
  auto next = replies.begin();
  for (const Listed& monitor : monitors) {
    MonitorReading reading;
    const std::string id = lock::decode_monitor_name(monitor.name);
    const auto is_read = [&](const Reply& reply, const char* problem) {
      if (closed == nullptr || reply.code != ReplyCode::no_auth) return is_there(reply, id, problem);
      closed->insert(readings.size());
      return false;
    };
    if (monitor.has_private_lock) {
      if (is_read(*next, "cannot read the holder's record")) reading.private_lock = std::move(*next);
      ++next;
    }
    for (const std::string& name : monitor.contenders) {
      if (is_read(*next, "cannot read a contender's record")) {
        reading.contenders.push_back({name, next->stat, OwnerRecord::from_json(next->data)});
      }
      ++next;
    }
    readings.push_back(std::move(reading));
  }
  return readings;
}

// Whether this holder is the one that the caller names: by node or session, and by token, if it is said.
bool is_meant(const HolderView& holder, std::string_view name) {
  const std::string known_as = holder.node.value_or(records::session_text(holder.session));
  return name == known_as || name == known_as + '@' + std::to_string(holder.token);
}

// Requests to the ensemble, which is connected.
RequestPipeline pipeline_to(EnsembleLink& ensemble, Instant deadline) {
  client::connected_or_throw(ensemble, deadline);
  return {ensemble, deadline};
}

Instant after(std::chrono::milliseconds timeout) {
  // Longer than anyone waits, and every instant that it leads to can be computed.
  constexpr std::chrono::hours most{24 * 36'500};
  return std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(timeout, most);
}

// The monitors that are held or waited for, or `all`.
// `not_permitted` is counted up for each node that we may not list, or whose nodes we may not read.
std::vector<MonitorView> read_monitors(RequestPipeline& pipeline, const Settings& settings, bool all,
                                       std::size_t& not_permitted) {
  const Reply root = pipeline.ask(List{"/"});
  if (!is_there(root, {}, "cannot list the namespace")) return {};
  std::vector<std::string> names = root.children;
  std::erase_if(names, [](const std::string& name) {
    return name == "zookeeper" || name.starts_with(lock::reserved_start);  // the server's own, and ours
  });
  std::vector<Request> requests;
  requests.reserve(names.size());
  for (const std::string& name : names) requests.emplace_back(List{'/' + name});
  const std::vector<Reply> listings = pipeline.ask(std::move(requests));

  std::vector<Listed> monitors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (listings[i].code == ReplyCode::no_auth) {
      ++not_permitted;
      continue;
    }
    if (!is_there(listings[i], lock::decode_monitor_name(names[i]), "cannot list a monitor")) continue;
    const std::vector<std::string>& children = listings[i].children;
    const bool active = client::has_lock_nodes(children, settings);
    if (active || (all && client::has_only_lock_nodes(children, settings)))
      monitors.push_back(listed(names[i], children));
  }

  std::set<std::size_t> closed;
  const std::vector<MonitorReading> readings = read_nodes(pipeline, monitors, &closed);
  not_permitted += closed.size();
  const WallTime now = records::wall_time_now();
  std::vector<MonitorView> views;
  for (std::size_t i = 0; i < monitors.size(); ++i) {
    if (closed.contains(i)) continue;
    MonitorView view =
        client::view_of(lock::decode_monitor_name(monitors[i].name), monitors[i].path(), readings[i], settings, now);
    if (all || view.holder || !view.queue.empty()) views.push_back(std::move(view));
  }
  return views;
}

std::vector<MonitorView> read_all(const ClientCore& core, const Settings& settings, bool all, Instant deadline,
                                  std::size_t& not_permitted) {
  RequestPipeline pipeline = pipeline_to(core.ensemble(), deadline);
  return read_monitors(pipeline, settings, all, not_permitted);
}

// What another client says to be members of its set need not be names of monitors.
std::vector<MonitorView> read_named(const ClientCore& core, const Settings& settings,
                                    const std::vector<std::string>& monitors, Instant deadline) {
  std::vector<std::string> members;
  std::vector<std::string> names;
  for (const std::string& member : monitors) {
    lock::EncodedName name = lock::encode_monitor_name(member);
    if (!name) continue;
    members.push_back(member);
    names.push_back(*std::move(name.name));
  }
  if (names.empty()) return {};
  std::vector<Request> requests;
  for (const std::string& name : names) requests.emplace_back(List{'/' + name});
  RequestPipeline pipeline = pipeline_to(core.ensemble(), deadline);
  const std::vector<Reply> listings = pipeline.ask(std::move(requests));
  std::vector<Listed> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    static const std::vector<std::string> none;
    const bool there = is_there(listings[i], members[i], "cannot list the monitor");
    found.push_back(listed(names[i], there ? listings[i].children : none));
  }
  const std::vector<MonitorReading> read = read_nodes(pipeline, found);
  std::vector<MonitorView> views;
  for (std::size_t i = 0; i < names.size(); ++i) {
    views.push_back(client::view_of(members[i], found[i].path(), read[i], settings, records::wall_time_now()));
  }
  return views;
}

}  // namespace

Inspector::Inspector(Client& client, std::chrono::milliseconds timeout) : client_(client), timeout_(timeout) {}

std::vector<MonitorSummary> Inspector::list(bool all, std::size_t* not_permitted) {
  std::vector<MonitorSummary> summaries;
  std::size_t hidden = 0;
  for (const MonitorView& view : read_all(*client_.core(), client_.settings(), all, after(timeout_), hidden)) {
    summaries.push_back(client::summary_of(view));
  }
  if (not_permitted != nullptr) *not_permitted = hidden;
  std::sort(summaries.begin(), summaries.end(),
            [](const MonitorSummary& a, const MonitorSummary& b) { return a.monitor < b.monitor; });
  return summaries;
}

std::optional<MonitorView> Inspector::show(const std::string& monitor) {
  const std::string name = encoded_or_throw(monitor);
  const std::string path = '/' + name;
  RequestPipeline pipeline = pipeline_to(client_.core()->ensemble(), after(timeout_));

  std::vector<Reply> first = pipeline.ask(std::vector<Request>{List{path}, Get{private_lock_path(path)}});
  if (!is_there(first[0], monitor, "cannot list the monitor")) return std::nullopt;
  Listed contenders = listed(name, first[0].children);
  contenders.has_private_lock = false;  // it has been read together with the listing
  MonitorReading reading = std::move(read_nodes(pipeline, {contenders}).front());
  if (is_there(first[1], monitor, "cannot read the holder's record")) reading.private_lock = std::move(first[1]);

  MonitorView view = client::view_of(monitor, path, reading, client_.settings(), records::wall_time_now());
  view.next_sequence = first[0].stat.created_children();
  return view;
}

std::optional<HolderView> Inspector::holder(const std::string& monitor) {
  const std::string name = encoded_or_throw(monitor);
  const std::string path = '/' + name;
  RequestPipeline pipeline = pipeline_to(client_.core()->ensemble(), after(timeout_));
  MonitorReading reading;
  reading.private_lock = pipeline.ask(Get{private_lock_path(path)});
  if (!is_there(*reading.private_lock, monitor, "cannot read the holder's record")) return std::nullopt;
  return client::view_of(monitor, path, reading, client_.settings(), records::wall_time_now()).holder;
}

std::optional<HolderToken> Inspector::known_holder_token(const std::string& monitor,
                                                         std::chrono::milliseconds max_age) {
  const std::string path = private_lock_path('/' + encoded_or_throw(monitor));
  client_.core()->check_usable();
  const auto seen = client_.core()->ensemble().seen_tokens().find(path);
  if (!seen) return std::nullopt;
  const std::chrono::nanoseconds age = client::now() - seen->asked;
  return age <= max_age ? std::optional(HolderToken{seen->token, age}) : std::nullopt;
}

HolderToken Inspector::holder_token(const std::string& monitor, std::chrono::milliseconds max_age) {
  if (const auto known = known_holder_token(monitor, max_age)) return *known;
  const std::string path = private_lock_path('/' + encoded_or_throw(monitor));
  EnsembleLink& ensemble = client_.core()->ensemble();
  RequestPipeline pipeline = pipeline_to(ensemble, after(timeout_));
  const lock::TimePoint asked = client::now();
  client::SeenTokens& seen = ensemble.seen_tokens();
  const client::SeenTokens::Reading reading = seen.begin(path);
  const auto found = std::make_shared<std::int64_t>(0);
  const Reply reply = pipeline.ask(Get{path, reading.watch}, [=, &seen](const Reply& read) {
    if (!read.ok()) return seen.end(path, reading, std::nullopt);
    *found = client::token_of(read, OwnerRecord::from_json(read.data));
    seen.end(path, reading, client::SeenTokens::Seen{*found, asked});
  });
  is_there(reply, monitor, "cannot read the holder's record");
  return {*found, client::now() - asked};
}

std::string Inspector::identity() {
  static const std::string path = '/' + std::string(lock::reserved_start) + "identity";
  const char* const what = "cannot read the identity of the namespace";
  RequestPipeline pipeline = pipeline_to(client_.core()->ensemble(), after(timeout_));
  Reply read = pipeline.ask(Get{path});
  if (!is_there(read, {}, what)) {
    const Reply made = pipeline.ask(coordination::Create{path, records::make_guid()});
    if (!made.ok() && made.code != ReplyCode::node_exists) client::throw_reply_error(made.code, {}, what);
    read = pipeline.ask(Get{path});
    if (!read.ok()) client::throw_reply_error(read.code, {}, what);
  }
  return read.data;
}

std::optional<LockSetView> Inspector::lock_set(const OwnerRecord& record) {
  if (record.set.empty() || record.set_size == 0) return std::nullopt;
  LockSetView view;
  view.id = record.set;
  view.size = record.set_size;
  view.members = record.set_members;
  // Of large sets the records name the first members alone; where the others are only a look at all monitors tells.
  const Instant deadline = after(timeout_);
  const ClientCore& core = *client_.core();
  const bool all_named = view.members.size() >= view.size;
  std::size_t hidden = 0;
  const std::vector<MonitorView> monitors = all_named ? read_named(core, client_.settings(), view.members, deadline)
                                                      : read_all(core, client_.settings(), false, deadline, hidden);
  const auto is_of_set = [&record](const std::optional<OwnerRecord>& owner) {
    return owner && owner->set == record.set;
  };
  std::vector<std::string> held;
  for (const MonitorView& monitor : monitors) {
    if (monitor.holder && is_of_set(monitor.holder->owner)) held.push_back(monitor.monitor);
    const bool waits = std::any_of(monitor.queue.begin(), monitor.queue.end(),
                                   [&](const WaiterView& waiter) { return is_of_set(waiter.owner); });
    if (!waits) continue;
    view.waits_for = monitor.monitor;
    view.behind = monitor.holder;
  }
  view.held_count = held.size();
  std::copy_if(view.members.begin(), view.members.end(), std::back_inserter(view.held),
               [&](const std::string& member) { return std::find(held.begin(), held.end(), member) != held.end(); });
  return view;
}

ForceReleaseResult Inspector::force_release(const std::string& monitor, const std::string& holder) {
  return force_release(monitor, holder, [](const HolderView&) { return true; });
}

ForceReleaseResult Inspector::force_release(const std::string& monitor, const std::string& holder,
                                            const std::function<bool(const HolderView&)>& only_if) {
  const auto look = [&](std::optional<MonitorView>& view) {
    view = show(monitor);
    if (!view) return ForceReleaseResult::no_such_monitor;
    const bool meant = view->holder && is_meant(*view->holder, holder) && only_if(*view->holder);
    return meant ? ForceReleaseResult::released : ForceReleaseResult::holder_changed;
  };
  std::optional<MonitorView> view;
  if (const ForceReleaseResult first = look(view); first != ForceReleaseResult::released) return first;

  // The monitor's data are set, to what they are: its version says from then on that it is not to be removed when it is
  // unused. In a new monitor the names of this one's nodes would come again, and what follows could meet another
  // holder, as could a late release of the one that is removed here.
  RequestPipeline pipeline = pipeline_to(client_.core()->ensemble(), after(timeout_));
  const Reply node = pipeline.ask(Get{view->path});
  if (!is_there(node, monitor, "cannot read the monitor")) return ForceReleaseResult::no_such_monitor;
  const Reply kept = pipeline.ask(coordination::SetData{view->path, node.data});
  if (!is_there(kept, monitor, "cannot release the monitor")) return ForceReleaseResult::no_such_monitor;
  if (const ForceReleaseResult second = look(view); second != ForceReleaseResult::released) return second;

  // The holder's own node first: its name is not used again, so a holder that has released meanwhile stops the whole
  // transaction, and the next holder's privateLock is safe.
  coordination::Transaction transaction;
  if (view->holder->node)
    transaction.operations.emplace_back(coordination::Delete{view->path + '/' + *view->holder->node});
  transaction.operations.emplace_back(coordination::Delete{private_lock_path(view->path), view->holder->version});
  const Reply reply = pipeline.ask(std::move(transaction));
  switch (reply.code) {
    case ReplyCode::ok:
      return ForceReleaseResult::released;
    case ReplyCode::no_node:
    case ReplyCode::bad_version:
      return ForceReleaseResult::holder_changed;
    default:
      client::throw_reply_error(reply.code, monitor, "cannot release the monitor");
  }
}

}  // namespace forelock
