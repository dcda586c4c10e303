// What the leader's log says.
#include "checker.h"
#include "describe.h"
#include "lock/limits.h"

namespace forelock::simulation {
namespace {

constexpr std::string_view lock_name = "privateLock";

bool is_update(std::string_view record) {
  return record[0] == unaware_update || record[0] == aware_update;
}

std::string_view path_of(const coordination::Operation& operation) {
  return std::visit([](const auto& one) { return std::string_view(one.path); }, operation);
}

bool checks_a_node(const coordination::Request& request, std::size_t monitor) {
  const auto* transaction = std::get_if<coordination::Transaction>(&request);
  return transaction != nullptr &&
         std::any_of(transaction->operations.begin(), transaction->operations.end(), [&](const auto& one) {
           return std::holds_alternative<coordination::Check>(one) && monitor_in(path_of(one)) == monitor;
         });
}

// The contender's node that a request deletes or checks before anything else at a monitor, as every change of a held
// lock does.
std::string_view own_node_in(const coordination::Request& request, std::size_t monitor) {
  if (const auto* removal = std::get_if<coordination::Delete>(&request)) return removal->path;
  const auto* transaction = std::get_if<coordination::Transaction>(&request);
  if (transaction == nullptr) return {};
  for (const coordination::Operation& operation : transaction->operations) {
    if (monitor_in(path_of(operation)) == monitor) return path_of(operation);
  }
  return {};
}

// Of transactions that were refused together it is not known which of them was meant; each is sent again.
bool is_group(const coordination::Request& request) {
  const auto* transaction = std::get_if<coordination::Transaction>(&request);
  std::size_t first = max_monitors;
  for (std::size_t i = 0; transaction != nullptr && i < transaction->operations.size(); ++i) {
    const std::size_t monitor = monitor_in(path_of(transaction->operations[i]));
    if (monitor == max_monitors) continue;
    if (first != max_monitors && monitor != first) return true;
    first = monitor;
  }
  return false;
}

}  // namespace

std::string guid_of(std::uint64_t id) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "g%06llu", static_cast<unsigned long long>(id));
  return text.data();
}

std::string record_of(char kind, std::uint64_t id) {
  return kind + guid_of(id);
}

std::uint64_t contender_in(std::string_view record) {
  if (record.size() != 8 || record[1] != 'g') return 0;
  std::uint64_t id = 0;
  for (const char digit : record.substr(2)) id = id * 10 + static_cast<std::uint64_t>(digit - '0');
  return id;
}

std::size_t monitor_in(std::string_view path) {
  if (path.size() < 2 || (path.size() > 2 && path[2] != '/')) return max_monitors;
  const auto found = monitor_names.find(path[1]);
  return found == std::string_view::npos ? max_monitors : found;
}

std::string monitor_path(std::size_t monitor) {
  return std::string("/") + monitor_names[monitor];
}
std::string lock_path(std::size_t monitor) {
  return monitor_path(monitor) + "/privateLock";
}

bool Checker::goes_before(const Contender& a, const Contender& b) const {
  if (a.rank != b.rank) return a.rank == Priority::foreground;
  return a.number < b.number;
}

std::uint64_t Checker::some_waiter(std::size_t monitor) const {
  for (const std::uint64_t id : monitors_[monitor].nodes) {
    if (waits(contenders_[id - 1]) && monitors_[monitor].owner != id) return id;
  }
  return 0;
}

void Checker::applied(const model::LogEntry& entry, const std::vector<model::Change>& changes) {
  if (entry.kind == model::LogEntry::Kind::end_session) ++statistics_.expired_sessions;
  if (entry.code == coordination::ReplyCode::bad_version) judge_versions(entry);
  if (changes.empty()) return;
  const model::Tree& truth = ensemble_.truth();
  std::array<LockChange, max_monitors> locks{};
  // A node that a move makes is there before the former one goes.
  std::vector<std::uint64_t> replaced;
  for (const model::Change& change : changes) {
    const bool child = monitor_in(change.path) != max_monitors && change.path.size() > 2;
    if (!child || change.kind != model::Change::Kind::deleted || change.path == lock_path(monitor_in(change.path)))
      continue;
    if (const std::uint64_t id = contender_in(change.data); id != 0) replaced.push_back(id);
    node_deleted(entry, change);
  }
  for (const model::Change& change : changes) {
    if (change.path == guarded_path) {
      judge_guard(entry, truth);
      continue;
    }
    const std::size_t monitor = monitor_in(change.path);
    if (monitor == max_monitors) continue;
    if (change.path.size() == 2) {
      // With everything in it, while requests are under way that name the nodes: the next ones get the same names.
      if (change.kind == model::Change::Kind::created) {
        monitors_[monitor].made_by = entry.zxid;
        monitors_[monitor].made_at = now();
        monitors_[monitor].former_removed_at = monitors_[monitor].removed_at;
      } else if (change.kind == model::Change::Kind::deleted) {
        monitors_[monitor].removed_at = now();
      }
      if (entry.connection == nullptr && changes.size() > 1) monitors_[monitor].undecidable = true;
      continue;
    }
    const std::string_view child = std::string_view(change.path).substr(3);
    if (child == lock::knock_name) continue;  // it has come and gone
    if (child == lock_name) {
      locks[monitor].touched = true;
      if (change.kind == model::Change::Kind::created) locks[monitor].created = true;
      if (change.kind == model::Change::Kind::deleted) locks[monitor].deleted = true;
    } else if (change.kind == model::Change::Kind::created) {
      node_created(entry, change.path, replaced);
    }
  }
  for (std::size_t index = 0; index < max_monitors; ++index) {
    Monitor& monitor = monitors_[index];
    const bool busy = monitor.owner != 0 || !monitor.nodes.empty();
    if (locks[index].touched) lock_changed(entry, index, locks[index], changes);
    if (busy || monitor.owner != 0 || !monitor.nodes.empty()) monitor.busy_until = now();
    if (busy || !monitor.nodes.empty()) look_at_vacancy(index);
    if (!plan_.ages.empty()) look_at_ageing(index);
  }
  if (!trace_.on()) return;
  const std::string zxid = std::to_string(entry.zxid);
  const std::string session = std::to_string(entry.session);
  const bool end = entry.kind == model::LogEntry::Kind::end_session;
  trace_.add("servers", zxid + (end ? " ends session " + session : " of " + session + ": " + describe(entry.request)));
}

// A removal may be on its way by then, or be sent by a process that has given up its watch and lets unused monitors
// linger.
bool Checker::made_anew_unnoticed(std::size_t index) const {
  const Monitor& monitor = monitors_[index];
  return monitor.made_at - monitor.former_removed_at <= 2 * plan_.engine.monitor_linger + Span(plan_.session_timeout);
}

void Checker::node_created(const model::LogEntry& entry, const std::string& path,
                           const std::vector<std::uint64_t>& replaced) {
  const model::Node* node = ensemble_.truth().find(path);
  const std::uint64_t id = node == nullptr ? 0 : contender_in(node->data);
  if (id == 0) monitors_[monitor_in(path)].foreign = true;
  if (id == 0) return;
  Contender& one = at(id);
  if (one.forgotten && !one.closing && one.process != nullptr && entry.session == one.node_session) {
    fail(Invariant::nothing_left, name(id) + " is forgotten, and then its node " + path + " is created");
  }
  if (!one.node.empty()) {
    fail(Invariant::nothing_left, name(id) + " has a second node " + path + " beside " + one.node);
  }
  const Contender former = one;
  one.node = one.last_node = path;
  one.rank = path[3] == 'A' ? Priority::foreground : Priority::background;
  if (one.rank == Priority::foreground) monitors_[one.monitor].last_foreground = now();
  one.queued_at = now();
  one.left_before.clear();
  one.node_session = entry.session;
  one.node_zxid = entry.zxid;
  one.number = std::atoll(path.c_str() + path.size() - 10);
  monitors_[one.monitor].nodes.push_back(id);
  if (std::find(replaced.begin(), replaced.end(), id) != replaced.end()) moved(id, former);
}

void Checker::node_deleted(const model::LogEntry& entry, const model::Change& change) {
  const std::uint64_t id = contender_in(change.data);
  if (id == 0) return;
  Contender& one = at(id);
  if (one.node == change.path) {
    one.node.clear();
    std::erase(monitors_[one.monitor].nodes, id);
    monitors_[one.monitor].busy_until = now();
    left_queue(one);
  }
  if (entry.kind == model::LogEntry::Kind::end_session) return;
  if (entry.connection == nullptr) {
    one.deleted_by_hand = one.deleted_by_hand_once = true;
    one.robbed_at = now();
    if (one.process != nullptr && one.phase == Phase::held) {
      expect_news_of_removal(id);
    }
    return;
  }
  if (entry.session != one.node_session) {
    if (unaware(entry, one.monitor)) {
      one.deleted_by_hand = true;
      return;
    }
    fail(Invariant::own_locks_only,
         "session " + std::to_string(entry.session) + " deletes " + change.path + " of " + name(id));
  } else if (one.process != nullptr && one.phase == Phase::held) {
    fail(Invariant::own_locks_only, name(id) + " holds, and its own process deletes its node");
  }
}

void Checker::judge_guard(const model::LogEntry& entry, const model::Tree& truth) {
  if (entry.connection == nullptr) return;
  ++statistics_.guarded_writes;
  const std::string& record = truth.find(guarded_path)->data;
  const std::uint64_t id = contender_in(record);
  if (id == 0) return;
  const Contender& one = at(id);
  if (owner(one.monitor) == id || monitors_[one.monitor].undecidable) return;
  // Sent before the deletion by hand could be known; the monitor has been made anew since, with the same names in it.
  if (one.deleted_by_hand && record[0] == unaware_write) return;
  fail(Invariant::guard, "a guarded write of " + name(id) + " is applied, but the lock is no longer its own");
}

void Checker::lock_changed(const model::LogEntry& entry, std::size_t index, const LockChange& change,
                           const std::vector<model::Change>& changes) {
  Monitor& monitor = monitors_[index];
  const model::Node* node = ensemble_.truth().find(lock_path(index));
  const std::uint64_t id = node == nullptr ? 0 : contender_in(node->data);
  const std::uint64_t before = monitor.owner;
  if (node != nullptr && !change.created && id != 0 && is_update(node->data)) {
    if (id == before) return;  // its record only
    if (before != 0 && at(id).deleted_by_hand && node->data[0] == unaware_update) {
      at(before).robbed = at(before).deleted_by_hand = true;
      return;
    }
  }
  if (before != 0) {
    const bool own = entry.connection != nullptr && entry.session == monitor.owner_session;
    at(before).lock_end = entry.kind == model::LogEntry::Kind::end_session ? LockEnd::session
                          : own                                            ? LockEnd::own_request
                                                                           : LockEnd::other_request;
    judge_removal(entry, index, changes);
  }
  if (before != 0 && !change.deleted && !change.created && id != before) ++statistics_.hand_overs;
  if (before != 0 && believes(at(before))) {
    fail(Invariant::one_holder, name(before) + " believes to hold, but its privateLock is " +
                                    (id == 0 ? "deleted" : "taken over by " + name(id)));
  }
  if (id == 0) ++monitor.times_freed;
  monitor.owner = id;
  monitor.owner_session = node == nullptr ? 0 : node->ephemeral_owner;
  if (id != 0) new_owner(index, id, entry);
}

// A lock that an administrator has deleted may be given up by a holder who cannot know of it yet. That must harm
// nobody, with two exceptions where nothing tells whose nodes the request finds: the monitor is undecidable; or it has
// been made anew since, and the next holder's node has got the name of the former's.
bool Checker::unaware(const model::LogEntry& entry, std::size_t monitor) const {
  const std::string_view node = own_node_in(entry.request, monitor);
  return std::any_of(contenders_.begin(), contenders_.end(), [&](const Contender& one) {
    if (one.monitor != monitor || one.node_session != entry.session) return false;
    if (monitors_[monitor].undecidable && (one.deleted_by_hand_once || one.robbed)) return true;
    return one.deleted_by_hand && !one.told_at_end && one.last_node == node;
  });
}

// Who may take privateLock away from its owner: the owner's process once the owner does not hold it any more, the end
// of its session, an administrator; and a release that could not know that the lock had been taken away before.
void Checker::judge_removal(const model::LogEntry& entry, std::size_t index,
                            const std::vector<model::Change>& changes) {
  Monitor& monitor = monitors_[index];
  const std::uint64_t owner = monitor.owner;
  if (entry.kind == model::LogEntry::Kind::end_session) return;
  const auto releaser = [&]() -> std::uint64_t {
    for (const model::Change& change : changes) {
      if (change.kind != model::Change::Kind::deleted || monitor_in(change.path) != index) continue;
      if (const std::uint64_t id = contender_in(change.data); id != 0 && change.path != lock_path(index)) return id;
    }
    return 0;
  }();
  if (entry.connection == nullptr) {
    if (releaser != owner) monitor.undecidable = true;
    return rob(owner);
  }
  Contender& one = at(owner);
  if (entry.session != monitor.owner_session || (releaser != 0 && releaser != owner)) {
    if (unaware(entry, index)) return rob(owner);
    return fail(Invariant::own_locks_only,
                "session " + std::to_string(entry.session) + " frees the lock of " + name(owner));
  }
  if (one.process != nullptr && one.phase == Phase::held && !one.robbed) {
    return fail(Invariant::own_locks_only, name(owner) + " holds, and its own process frees its lock");
  }
  if (one.phase == Phase::waiting && releaser == 0) ++statistics_.yields;
}

// A lock's version is what its owner has made it.
void Checker::judge_versions(const model::LogEntry& entry) {
  if (entry.connection == nullptr || entry.fate.refuse != coordination::ReplyCode::ok || is_group(entry.request))
    return;
  for (std::size_t index = 0; index < max_monitors; ++index) {
    const std::string_view node = own_node_in(entry.request, index);
    const std::uint64_t id = monitors_[index].owner;
    if (id == 0 || at(id).node != node || at(id).node_session != entry.session || undone_by_hand(at(id))) continue;
    fail(Invariant::requests, name(id) + " does not know its lock's version: " + describe(entry.request));
  }
}

void Checker::expect_news_of_removal(std::uint64_t id) {
  timeline_.at(now() + plan_.engine.hold_watch_delay + at(id).hold_watch_later, *this, removal_due, id);
}

void Checker::rob(std::uint64_t id) {
  Contender& one = at(id);
  one.robbed = one.deleted_by_hand = true;
  one.robbed_at = now();
  if (one.process != nullptr && one.phase == Phase::held) {
    expect_news_of_removal(id);
  }
}

void Checker::new_owner(std::size_t index, std::uint64_t id, const model::LogEntry& entry) {
  Contender& one = at(id);
  one.claim_zxid = entry.zxid;
  one.lock_end = LockEnd::none;
  one.robbed = one.deleted_by_hand = one.told = one.told_at_end = false;
  one.passed.clear();
  Monitor& monitor = monitors_[index];
  if (monitor.first != 0 && monitor.first != id) ++monitor.passed_over;
  for (const std::uint64_t other : monitors_[index].nodes) {
    if (other != id && waits(at(other)) && goes_before(at(other), one)) {
      one.passed.emplace_back(other, at(other).node);
    }
  }
  if (one.process == nullptr) {
    ++statistics_.literal_grants;
    return;
  }
  if (monitors_[index].owner_session != entry.session) {
    // It was handed over, but it was another's: the leaver's had been deleted alone, and nothing tells them apart.
    if (!monitors_[index].undecidable) {
      fail(Invariant::own_locks_only, name(id) + " takes over a privateLock of another session");
    }
    one.robbed = one.deleted_by_hand = true;
  }
  if (one.node.empty() && one.deleted_by_hand_once && checks_a_node(entry.request, index)) {
    // Another contender's node has got the name of its own, in a monitor that was made anew. It has no place in the
    // queue.
    one.robbed = one.deleted_by_hand = true;
    one.passed.clear();
  } else if (one.node.empty()) {
    fail(Invariant::in_line, name(id) + " takes privateLock without a node of its own");
  }
}

void Checker::nothing_left() {
  const bool undisturbed = plan_.faults.empty() && plan_.literals.empty() && !plan_.slow_network;
  for (const auto& [path, node] : ensemble_.truth().nodes()) {
    const std::size_t monitor = monitor_in(path);
    if (monitor == max_monitors) continue;
    if (path.size() == 2 && node.data == lock::monitor_mark && node.version == 0 && undisturbed) {
      fail(Invariant::nothing_left, path + " is left, of nobody");
    }
    if (path.size() == 2 || node.ephemeral_owner == 0) continue;
    const std::uint64_t id = contender_in(node.data);
    fail(Invariant::nothing_left, path + " is left" + (id == 0 ? "" : " of " + name(id)));
  }
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    const Contender& one = contenders_[i];
    if (one.process == nullptr || one.forgotten) continue;
    fail(Invariant::one_ending, name(i + 1) + " is never forgotten");
  }
}

}  // namespace forelock::simulation
