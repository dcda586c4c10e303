
#include "robustness/check/describe.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

// Who is refused while its create is under way gets a node all the same, for the moment until that is removed.
constexpr Span create_under_way = std::chrono::seconds(5);

// Replays the servers' log, and stops at the transaction of each grant to look at the queue.
class GrantReplay {
 public:
  explicit GrantReplay(const History& history)
      : history_(history), first_not_trusted_(first_not_trusted(history)), lines_(history.monitors.size()) {
    rank_prefixes();
    std::map<std::pair<std::uint32_t, std::int64_t>, Grant> grants;  // by monitor and token
    for (const Call& call : history.calls) {
      if (call.granted != never && call.token != 0) grants[{call.monitor, call.token}].add(call);
      if (call.refused != never) refused_[{call.process, call.monitor}].push_back(&call);
    }
    for (const auto& [key, grant] : grants) grants_.emplace(key.second, grant);
  }

  LineFindings run() {
    for (auto change = history_.log.begin(); change != history_.log.end();) {
      const std::int64_t zxid = change->zxid;
      if (zxid >= first_not_trusted_) break;
      for (; change != history_.log.end() && change->zxid == zxid; ++change) apply(*change);
      // Several monitors' claims may have shared a transaction.
      const auto [first, last] = grants_.equal_range(zxid);
      for (auto grant = first; grant != last; ++grant) judge(grant->second);
      grants_.erase(first, last);
    }
    for (const Line& line : lines_) {
      for (const auto& [order, node] : line.nodes) node_gone(node);
    }
    not_in_log();
    return std::move(findings_);
  }

 private:
  using Order = std::pair<std::uint32_t, std::int64_t>;  // rank of the prefix, number
  // The sections under it are one after the other: the first one was told of it.
  struct Grant {
    const Call* first = nullptr;
    const Call* last = nullptr;

    void add(const Call& call) {
      if (first == nullptr || call.granted < first->granted) first = &call;
      if (last == nullptr || call.granted > last->granted) last = &call;
    }
  };
  struct Passing {
    const Call* call;
    bool same_class;
  };
  struct Node {
    Place place;
    std::int64_t session = 0;
    std::uint64_t guid = 0;
    std::int64_t created = 0;
    Instant created_after{};
    const Call* holder = nullptr;    // the last one to hold with it
    std::vector<Passing> passed_by;  // granted while it was before them in the queue
  };
  struct Lock {
    std::int64_t session = 0;
    std::uint64_t guid = 0;
  };
  struct Line {
    std::map<Order, Node> nodes;
    std::optional<Lock> lock;
  };

  void rank_prefixes() {
    std::vector<std::string> sorted = history_.prefixes;
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& prefix : history_.prefixes) {
      ranks_.push_back(
          static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), prefix) - sorted.begin()));
    }
  }
  Order order_of(const Place& place) const { return {ranks_[place.prefix], place.number}; }

  void apply(const LoggedChange& change) {
    if (change.type == LoggedChange::Type::monitor_made) return;
    if (change.type == LoggedChange::Type::session_end) return end_session(change.session);
    Line& line = lines_[change.monitor];
    if (change.is_lock) return apply_to_lock(change, line);
    const Order order = order_of(change.place);
    switch (change.type) {
      case LoggedChange::Type::create:
        // Unlockers contend for their own lock, and are administrators to all others.
        if (history_.monitors[change.monitor] != "forelock-unlocker") contending_.insert(change.session);
        line.nodes[order] = {change.place, change.session, change.guid, change.zxid, latest_, nullptr, {}};
        break;
      case LoggedChange::Type::remove:
        if (const auto node = line.nodes.find(order); node != line.nodes.end()) {
          note_stranger(change, order, node->second);
          note_release(change, node->second);
          node_gone(node->second);
          line.nodes.erase(node);
        }
        break;
      default:
        break;
    }
  }

  void apply_to_lock(const LoggedChange& change, Line& line) {
    // Somebody who contends for nothing is an administrator.
    const bool foreign = line.lock && line.lock->session != change.session;
    const bool strange = foreign && contending_.contains(change.session);
    const auto complain = [&](const char* what) {
      findings_.owners.violated("zxid " + std::to_string(change.zxid) + " " + what + " the privateLock of " +
                                history_.monitors[change.monitor] + ", which is another client's");
    };
    switch (change.type) {
      case LoggedChange::Type::create:
        line.lock = Lock{change.session, change.guid};
        break;
      case LoggedChange::Type::set:
        if (strange) complain("sets");
        if (line.lock) line.lock->guid = change.guid;
        break;
      case LoggedChange::Type::remove:
        if (foreign && !strange) leave_bare(change, line);
        if (strange && (bare_.erase({change.monitor, change.session}) > 0 || may_repeat_ == change.zxid)) {
          ++findings_.owners.undecided;
        } else if (strange) {
          complain("deletes");
        }
        line.lock.reset();
        break;
      default:
        break;
    }
  }

  // An administrator deletes a lock and leaves its holder's node: the lock had passed to that holder since he looked.
  // What that holder releases then may be the next one's lock (docs/protocol.md, "Limits"), once.
  void leave_bare(const LoggedChange& change, const Line& line) {
    for (const auto& [order, node] : line.nodes) {
      if (node.session == line.lock->session && node.guid == line.lock->guid)
        bare_.insert({change.monitor, node.session});
    }
  }

  // An administrator deletes a contender's node. When its monitor goes and is made anew, names come again, and what
  // that contender's client gives back then may be another one's (docs/protocol.md, "Limits"), once.
  void note_stranger(const LoggedChange& change, const Order& order, const Node& node) {
    if (node.session == change.session) return;
    if (!contending_.contains(change.session)) {
      deleted_by_hand_.insert({change.monitor, node.session, order});
    } else if (deleted_by_hand_.erase({change.monitor, change.session, order}) > 0) {
      may_repeat_ = change.zxid;
    }
  }

  void end_session(std::int64_t session) {
    for (Line& line : lines_) {
      if (line.lock && line.lock->session == session) line.lock.reset();
      for (auto node = line.nodes.begin(); node != line.nodes.end();) {
        if (node->second.session == session) {
          node_gone(node->second);
          node = line.nodes.erase(node);
        } else {
          ++node;
        }
      }
    }
  }

  // A transaction that was sent by this release was applied after it.
  void note_release(const LoggedChange& change, const Node& node) {
    const Call* holder = node.holder;
    if (holder == nullptr || change.session != node.session || holder->release == never) return;
    if (holder->lost == never && holder->unhealthy == never) latest_ = std::max(latest_, holder->release);
  }

  void judge(const Grant& grant) {
    const Call& call = *grant.first;
    const Process& process = history_.process_of(call);
    if (process.kind == Kind::literal) return;  // its own promise to make
    // Where locks stay with the process, the grant may be of a call that has given up.
    if (!process.lingers) latest_ = std::max(latest_, call.invoked);
    Line& line = lines_[call.monitor];
    const std::uint64_t guid = guid_of(call, line);
    const auto own = std::find_if(line.nodes.begin(), line.nodes.end(), [&](const auto& entry) {
      const Node& node = entry.second;
      return guid != 0 ? node.guid == guid : call.place && node.place == *call.place;
    });
    const bool known = guid != 0 || call.place;
    if (!known) return undecided();
    ++findings_.owners.judged;
    if (own == line.nodes.end()) {
      findings_.owners.violated(text_of(history_, call) + " has no node at the transaction of its token");
      return;
    }
    if (!line.lock || line.lock->session != own->second.session || (call.guid != 0 && line.lock->guid != call.guid)) {
      findings_.owners.violated(text_of(history_, call) +
                                ": privateLock is not its own at the transaction of its token");
    }
    ++findings_.priority.judged;
    ++findings_.fifo.judged;
    for (auto before = line.nodes.begin(); before != own; ++before) {
      before->second.passed_by.push_back({&call, before->first.first == own->first.first});
    }
    for (const Passing& passing : own->second.passed_by) {
      violated(passing, own->second, "and was granted only later, to " + text_of(history_, call));
    }
    own->second.passed_by.clear();
    own->second.holder = grant.last;
  }

  // Who does not know its guid (a command, a member of a set) knows its session: what that has written is its own.
  static std::uint64_t guid_of(const Call& call, const Line& line) {
    if (call.guid != 0 || call.place) return call.guid;
    return line.lock && call.session != 0 && line.lock->session == call.session ? line.lock->guid : 0;
  }

  // Whether somebody who was passed still waited when the grant was told. If its removal was applied before that, it
  // was not in the listing that proved the grant.
  void node_gone(const Node& node) {
    if (node.holder != nullptr) return;  // it has held, and not waited since
    for (const Passing& passing : node.passed_by) {
      if (latest_ <= passing.call->granted || gave_up(*passing.call, node)) {
        undecided();
      } else {
        violated(passing, node, "and was still there after that");
      }
    }
  }

  // Whether the node may be one of the same process whose time was up or that was cancelled: its process knows that it
  // does not wait any more.
  bool gave_up(const Call& call, const Node& node) const {
    if (call.session != node.session) return false;
    if (call.guid == 0 && !call.place) return true;  // a set has given up what it does not know by name
    const auto calls = refused_.find({call.process, call.monitor});
    return calls != refused_.end() && std::any_of(calls->second.begin(), calls->second.end(), [&](const Call* refused) {
             return refused->refused <= call.granted && refused->refused >= node.created_after - create_under_way;
           });
  }

  void violated(const Passing& passing, const Node& node, const std::string& evidence) {
    Findings& findings = passing.same_class ? findings_.fifo : findings_.priority;
    findings.violated(text_of(history_, *passing.call) + " was granted at " + text_of(history_, passing.call->granted) +
                      " although " + text_of(history_, node.place) + " was before it in the queue, since zxid " +
                      std::to_string(node.created) + ", " + evidence);
  }

  void undecided() {
    ++findings_.priority.undecided;
    ++findings_.fifo.undecided;
  }

  // Grants whose transaction the log does not have.
  void not_in_log() {
    for (const auto& [token, grant] : grants_) {
      const Call* const call = grant.first;
      if (history_.process_of(*call).kind == Kind::literal) continue;
      const bool covered = !history_.log.empty() && token > history_.log.front().zxid &&
                           token < std::min(history_.log.back().zxid, first_not_trusted_);
      if (covered) {
        findings_.owners.violated(text_of(history_, *call) + ": the servers know of no transaction with this token");
      } else {
        undecided();
      }
    }
  }

  const History& history_;
  const std::int64_t first_not_trusted_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> ranks_;
  std::unordered_multimap<std::int64_t, Grant> grants_;                     // by token
  std::set<std::tuple<std::size_t, std::int64_t, Order>> deleted_by_hand_;  // monitor, session and name of nodes
  std::int64_t may_repeat_ = 0;  // a transaction that has deleted a node of such a name, which was another one
  std::set<std::pair<std::size_t, std::int64_t>> bare_;  // monitor, session: see leave_bare()
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const Call*>> refused_;  // by process and monitor
  std::unordered_set<std::int64_t> contending_;
  // A moment that was certainly over when the transaction at hand was applied.
  Instant latest_{};
  LineFindings findings_;
};

}  // namespace

LineFindings just_grants(const History& history) {
  return GrantReplay(history).run();
}

}  // namespace forelock::robustness
