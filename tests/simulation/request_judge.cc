#include "request_judge.h"

#include "describe.h"
#include "lock/limits.h"

namespace forelock::simulation {
namespace {

// What may be sent. A lock's version that is named is the one that its owner knows; where it is not, the transaction
// has created the lock itself.
constexpr auto allowed =
    std::to_array<std::string_view>({"check root",      // is the session known to a majority?
                                     "check node",      // the same
                                     "sync root",       // does the server answer?
                                     "create monitor",  //
                                     "create monitor, create new, create lock, set lock",  // the same, monitor fresh
                                     "create new, create lock, set lock",                  // claim, with the own node
                                     "create new",                                         // join the queue
                                     "create new, delete node",                            // move to another queue
                                     "check node, create lock, set lock",                  // claim from the queue
                                     "delete node, check node, set lock version",          // hand-over
                                     "delete node, delete lock version",                   // release
                                     "check node, delete lock version",                    // yield, step aside
                                     "check node, set lock version",                       // another record
                                     "check node, check lock version",                     // still held?
                                     "delete node",                                        // leave the queue
                                     "delete lock version",                                // of a lock without its node
                                     "create and delete knocks",                           // at locks that may linger
                                     "delete monitor",                                     // at its counter's end
                                     "delete monitors version",                            // that are not used any more
                                     "list monitor",                                       //
                                     "list monitor watch",                                 //
                                     "get monitor watch",                                  //
                                     "get monitor",     // where there is no room for a watch
                                     "get lock watch",  //
                                     "get lock",        //
                                     "get node watch",  //
                                     "get node",        //
                                     "unwatch monitor"});

enum class Place { root, monitor, lock, node, new_node, knock, other };

Place place_of(std::string_view path) {
  if (path == "/") return Place::root;
  if (monitor_in(path) == max_monitors) return Place::other;
  if (path.size() == 2) return Place::monitor;
  const std::string_view child = path.substr(3);
  if (child == "privateLock") return Place::lock;
  if (child == lock::knock_name) return Place::knock;
  return child.back() == '-' ? Place::new_node : Place::node;
}

std::string_view name_of(Place place) {
  static constexpr std::array<std::string_view, 7> names = {"root", "monitor", "lock", "node", "new", "knock", "other"};
  return names[static_cast<std::size_t>(place)];
}

// Whether it deletes monitors, each at the version that it was made with.
bool removes_unused(const coordination::Request& request) {
  const auto is_removal = [](const coordination::Delete& one) {
    return place_of(one.path) == Place::monitor && one.version == 0;
  };
  if (const auto* one = std::get_if<coordination::Delete>(&request)) return is_removal(*one);
  const auto* transaction = std::get_if<coordination::Transaction>(&request);
  return transaction != nullptr && std::all_of(transaction->operations.begin(), transaction->operations.end(),
                                               [&](const coordination::Operation& operation) {
                                                 const auto* one = std::get_if<coordination::Delete>(&operation);
                                                 return one != nullptr && is_removal(*one);
                                               });
}

}  // namespace

bool is_knock(const coordination::Request& request) {
  const auto* transaction = std::get_if<coordination::Transaction>(&request);
  if (transaction == nullptr || transaction->operations.size() % 2 != 0) return false;
  const auto& operations = transaction->operations;
  for (std::size_t i = 0; i < operations.size(); i += 2) {
    const auto* create = std::get_if<coordination::Create>(&operations[i]);
    const auto* removal = std::get_if<coordination::Delete>(&operations[i + 1]);
    if (create == nullptr || removal == nullptr || create->path != removal->path) return false;
    if (place_of(create->path) != Place::knock) return false;
  }
  return true;
}

struct RequestJudge::Part {
  std::string signature;
  std::vector<std::size_t> monitors;
  std::vector<std::string_view> own_nodes;  // that are checked or deleted
  std::vector<std::string_view> records;
  bool wrong_kind = false;
};

void RequestJudge::add(Part& whole, std::string_view verb, const std::string& path) const {
  if (!whole.signature.empty()) whole.signature += ", ";
  whole.signature.append(verb).append(" ").append(name_of(place_of(path)));
  const std::size_t monitor = monitor_in(path);
  if (monitor != max_monitors) whole.monitors.push_back(monitor);
}

std::uint64_t RequestJudge::owner_of(const Believer& process, std::string_view path) const {
  std::uint64_t former = 0;
  for (std::uint64_t id = checker_.contenders(); id > 0; --id) {
    const Contender& one = checker_.at(id);
    if (one.process != &process || one.last_node != path) continue;
    if (one.node == path) return id;
    if (former == 0) former = id;
  }
  return former;
}

// Whether another process has had a node of the same name, in a monitor that has been made anew since: its requests may
// have met this one's lock.
bool RequestJudge::names_repeat(std::uint64_t owner) const {
  const Contender& one = checker_.at(owner);
  for (std::uint64_t id = checker_.contenders(); id > 0; --id) {
    const Contender& other = checker_.at(id);
    if (other.process != one.process && other.deleted_by_hand_once && other.last_node == one.node) return true;
  }
  return false;
}

void RequestJudge::fail(const coordination::Request& request, const std::string& text) {
  checker_.fail(Invariant::requests, describe(request) + ": " + text);
}

void RequestJudge::note_asked(const Believer& process, coordination::RequestTag tag,
                              const coordination::Request& request) {
  using namespace coordination;
  std::vector<Asked> asked;
  const auto note = [&]<typename One>(const One& one) {
    if constexpr (requires { one.path; }) {
      if (place_of(one.path) != Place::monitor) return;
      constexpr bool reads = std::is_same_v<One, Get>;
      constexpr bool makes = std::is_same_v<One, Create>;
      if constexpr (reads || makes || std::is_same_v<One, Delete>)
        asked.push_back({monitor_in(one.path), reads, makes});
    }
  };
  if (const auto* transaction = std::get_if<Transaction>(&request)) {
    for (const auto& operation : transaction->operations) std::visit(note, operation);
  } else {
    std::visit(note, request);
  }
  if (!asked.empty()) asked_[{&process, tag}] = std::move(asked);
}

void RequestJudge::answered(const Believer& process, coordination::RequestTag tag, const coordination::Reply& reply) {
  const auto found = asked_.extract({&process, tag});
  if (!found) return;
  const bool told = reply.ok() || reply.code == coordination::ReplyCode::no_node;
  for (const Asked& asked : found.mapped()) {
    const bool carries_mark = asked.reads ? reply.data == lock::monitor_mark && reply.stat.version == 0 : asked.makes;
    if (reply.ok() && carries_mark) {
      marked_.insert({&process, asked.monitor});
    } else if (asked.reads ? told : reply.ok()) {
      marked_.erase({&process, asked.monitor});
    }
  }
}

void RequestJudge::watch_delivered(const Believer& process, const coordination::WatchEvent& event) {
  using Kind = coordination::WatchEvent::Kind;
  if (place_of(event.path) != Place::monitor) return;
  if (event.kind == Kind::deleted || event.kind == Kind::data_changed) {
    marked_.erase({&process, monitor_in(event.path)});
  }
}

void RequestJudge::disconnected(const Believer& process) {
  std::erase_if(marked_, [&](const auto& one) { return one.first == &process; });
  std::erase_if(asked_, [&](const auto& one) { return one.first.first == &process; });
}

std::uint64_t RequestJudge::sent(const Believer& process, coordination::RequestTag tag,
                                 const coordination::Request& request) {
  note_asked(process, tag, request);
  using namespace coordination;
  Part whole;
  const auto judge = [&]<typename One>(const One& one) {
    Place place = Place::other;
    if constexpr (requires { one.path; }) place = place_of(one.path);
    if constexpr (std::is_same_v<One, Create>) {
      add(whole, "create", one.path);
      const bool lingers = plan_.engine.monitor_linger > Span{};
      const CreateMode mode = place == Place::monitor    ? lingers ? CreateMode::persistent : CreateMode::container
                              : place == Place::new_node ? CreateMode::ephemeral_sequential
                                                         : CreateMode::ephemeral;
      whole.wrong_kind |= one.mode != mode;
      if (place == Place::new_node) whole.records.push_back(one.data);
      if (place == Place::monitor && lingers) whole.wrong_kind |= one.data != lock::monitor_mark;
    } else if constexpr (std::is_same_v<One, Delete> || std::is_same_v<One, Check> || std::is_same_v<One, SetData>) {
      add(whole, std::is_same_v<One, Delete> ? "delete" : std::is_same_v<One, Check> ? "check" : "set", one.path);
      if (place == Place::node) whole.own_nodes.push_back(one.path);
      if (one.version != any_version) whole.signature += " version";
      if constexpr (std::is_same_v<One, SetData>) whole.records.push_back(one.data);
    } else if constexpr (std::is_same_v<One, Get> || std::is_same_v<One, Exists> || std::is_same_v<One, List>) {
      add(whole, std::is_same_v<One, Get> ? "get" : std::is_same_v<One, List> ? "list" : "exists", one.path);
      if (one.watch) whole.signature += " watch";
    } else if constexpr (std::is_same_v<One, RemoveDataWatch>) {
      add(whole, "unwatch", one.path);
    } else if constexpr (std::is_same_v<One, Sync>) {
      add(whole, "sync", one.path);
    } else {
      static_assert(std::is_same_v<One, Transaction>);
    }
  };
  if (const auto* transaction = std::get_if<Transaction>(&request)) {
    for (const auto& operation : transaction->operations) std::visit(judge, operation);
  } else {
    std::visit(judge, request);
  }
  if (removes_unused(request)) whole.signature = "delete monitors version";
  const bool many = removes_unused(request) || is_knock(request);
  if (is_knock(request)) whole.signature = "create and delete knocks";
  if (std::find(allowed.begin(), allowed.end(), whole.signature) == allowed.end()) {
    fail(request, "no request of the protocol (" + whole.signature + ")");
    return 0;
  }
  if (whole.wrong_kind) fail(request, "a node of the wrong kind");
  for (const std::size_t monitor : whole.monitors) {
    if (many) break;
    if (monitor != whole.monitors.front()) fail(request, "two monitors in one transaction");
  }
  for (const std::string_view record : whole.records) {
    const std::uint64_t id = contender_in(record);
    const bool ours = id != 0 && checker_.at(id).process == &process;
    if (!ours || checker_.at(id).monitor != whole.monitors.front()) fail(request, "a record of none of its contenders");
  }
  for (const std::string_view node : whole.own_nodes) {
    if (owner_of(process, node) == 0) fail(request, "a node that is not its own");
  }
  for (const std::size_t monitor : whole.monitors) {
    if (whole.signature == "delete monitors version" && !marked_.contains({&process, monitor})) {
      fail(request, "a monitor of which it does not know that it carries the mark");
    }
  }
  if (whole.signature == "delete monitor" && plan_.first_counter[whole.monitors.front()] == 0) {
    fail(request, "the monitor's counter is far from its end");
  }
  if (whole.signature == "delete lock version") {
    const std::uint64_t owner = checker_.owner(whole.monitors.front());
    const bool ours = owner != 0 && checker_.at(owner).process == &process && !checker_.at(owner).forgotten;
    const bool decidable = !checker_.undecidable(whole.monitors.front()) && ours && !names_repeat(owner);
    if (decidable && !checker_.at(owner).node.empty()) {
      fail(request, "its owner's node is there, and is not deleted or checked in the same transaction");
    }
  }
  static constexpr std::array<std::string_view, 3> giving_up = {"delete node, delete lock version",
                                                                "check node, delete lock version",
                                                                "delete node, check node, set lock version"};
  const bool gives_up = std::find(giving_up.begin(), giving_up.end(), whole.signature) != giving_up.end();
  return gives_up ? owner_of(process, whole.own_nodes.front()) : 0;
}

}  // namespace forelock::simulation
