
#include "robustness/check/describe.h"
#include "robustness/check/forced_ends.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

// Instants by which transactions had certainly been applied, from what clients were told.
class AppliedBy {
 public:
  void add(std::int64_t zxid, Instant told) { told_.emplace_back(zxid, told); }
  void finish() {
    std::sort(told_.begin(), told_.end());
    for (std::size_t i = told_.size(); i-- > 1;) {
      told_[i - 1].second = std::min(told_[i - 1].second, told_[i].second);
    }
  }
  Instant operator()(std::int64_t zxid) const {
    const auto later = std::lower_bound(told_.begin(), told_.end(), std::pair(zxid, Instant::min()));
    return later == told_.end() ? never : later->second;
  }

 private:
  std::vector<std::pair<std::int64_t, Instant>> told_;  // by zxid
};

// Instants before which transactions had certainly not been applied, from when clients asked for what came earlier.
class NotAppliedBefore {
 public:
  void add(std::int64_t zxid, Instant asked) { asked_.emplace_back(zxid, asked); }
  void finish() {
    std::sort(asked_.begin(), asked_.end());
    for (std::size_t i = 1; i < asked_.size(); ++i) {
      asked_[i].second = std::max(asked_[i].second, asked_[i - 1].second);
    }
  }
  Instant operator()(std::int64_t zxid) const {
    const auto later = std::upper_bound(asked_.begin(), asked_.end(), std::pair(zxid, never));
    return later == asked_.begin() ? Instant::min() : std::prev(later)->second;
  }

 private:
  std::vector<std::pair<std::int64_t, Instant>> asked_;  // by zxid
};

// Replays the servers' log, and looks at the sections of a grant when it ends.
class TakenReplay {
 public:
  explicit TakenReplay(const History& history) : history_(history), forced_(history), queues_(history.monitors.size()) {
    for (const Call& call : history.calls) {
      if (call.granted == never) continue;
      if (call.token != 0) {
        sections_[{call.monitor, call.token}].push_back(&call);
        applied_by_.add(call.token, call.granted);
        // Where locks stay with the process, the grant may be of a call that has given up.
        if (!history.process_of(call).lingers) not_applied_before_.add(call.token, call.invoked);
        std::int64_t& last = last_token_of_[call.guid];
        if (call.guid != 0) last = std::max(last, call.token);
      } else if (call.place) {
        Instant& told =
            without_token_.try_emplace({call.monitor, call.place->prefix, call.place->number}).first->second;
        told = std::max(told, call.granted);
      }
    }
    collect_claims_without_token();
    applied_by_.finish();
    not_applied_before_.finish();
  }

  Findings run() {
    const std::int64_t first_lost = first_not_trusted(history_);
    for (const LoggedChange& change : history_.log) {
      if (change.zxid >= first_lost) break;
      apply(change);
    }
    for (auto& queue : queues_) end_grant(queue, std::nullopt);
    for (const auto& [key, calls] : sections_) findings_.undecided += calls.size() - 1;
    return std::move(findings_);
  }

 private:
  using Name = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // monitor, prefix, number
  struct Node {
    Place place;
    std::int64_t session = 0;
    std::uint64_t guid = 0;
    std::int64_t created = 0;
    Instant there_until = never;  // at least
  };
  struct Grant {
    std::uint32_t monitor = 0;
    std::int64_t token = 0;
    std::int64_t session = 0;
    std::uint64_t guid = 0;
    std::vector<Node> left = {};  // those that have left the queue meanwhile
  };
  struct Queue {
    std::vector<Node> nodes;
    std::optional<Grant> grant;
  };

  // A client that knows no token has a node without a guid, and its session makes privateLock: when it was told of
  // that, so much had been applied. Where its name has come again, it is not known which of them was told.
  void collect_claims_without_token() {
    std::map<Name, int> made;
    for (const LoggedChange& change : history_.log) {
      if (change.type != LoggedChange::Type::create || change.is_lock || change.guid != 0) continue;
      ++made[{change.monitor, change.place.prefix, change.place.number}];
    }
    std::map<std::pair<std::uint32_t, std::int64_t>, Name> nodes;  // by monitor and session
    for (const LoggedChange& change : history_.log) {
      if (change.type != LoggedChange::Type::create) continue;
      if (!change.is_lock) {
        nodes.erase({change.monitor, change.session});
        if (change.guid != 0) continue;
        nodes[{change.monitor, change.session}] = {change.monitor, change.place.prefix, change.place.number};
        continue;
      }
      const auto node = nodes.find({change.monitor, change.session});
      if (node == nodes.end()) continue;
      const auto told = without_token_.find(node->second);
      if (told != without_token_.end() && made[node->second] == 1) applied_by_.add(change.zxid, told->second);
    }
  }

  void apply(const LoggedChange& change) {
    if (change.type == LoggedChange::Type::monitor_made) return;
    if (change.type == LoggedChange::Type::session_end) return end_session(change);
    Queue& queue = queues_[change.monitor];
    if (change.is_lock) {
      // A hand-over sets it anew; a holder's next record does, too, and is of the same grant. In a group it is made
      // with its record.
      const bool made = change.type == LoggedChange::Type::create && change.guid != 0;
      const bool same = queue.grant && change.type == LoggedChange::Type::set && queue.grant->guid == change.guid;
      if (!same) end_grant(queue, change.zxid);
      if (made || (change.type == LoggedChange::Type::set && !same)) {
        queue.grant = Grant{change.monitor, change.zxid, change.session, change.guid, {}};
      }
      return;
    }
    if (change.type == LoggedChange::Type::create) {
      queue.nodes.push_back({change.place, change.session, change.guid, change.zxid, never});
    } else if (change.type == LoggedChange::Type::remove) {
      const auto node = std::find_if(queue.nodes.begin(), queue.nodes.end(),
                                     [&](const Node& each) { return each.place == change.place; });
      if (node == queue.nodes.end()) return;
      if (queue.grant && queue.grant->guid == node->guid) end_grant(queue, change.zxid);
      leave(queue, *node, change.zxid);
      queue.nodes.erase(node);
    }
  }

  void end_session(const LoggedChange& change) {
    for (Queue& queue : queues_) {
      if (queue.grant && queue.grant->session == change.session) end_grant(queue, change.zxid);
      for (const Node& node : queue.nodes) {
        if (node.session == change.session) leave(queue, node, change.zxid);
      }
      std::erase_if(queue.nodes, [&](const Node& node) { return node.session == change.session; });
    }
  }

  void leave(Queue& queue, Node node, std::int64_t zxid) const {
    if (!queue.grant) return;
    node.there_until = not_applied_before_(zxid);
    queue.grant->left.push_back(node);
  }

  // Nothing: the log ends before it does.
  void end_grant(Queue& queue, std::optional<std::int64_t> ended) {
    if (!queue.grant) return;
    const Grant grant = *std::exchange(queue.grant, {});
    const auto found = sections_.find({grant.monitor, grant.token});
    if (found == sections_.end()) return;
    findings_.judged += found->second.size() - 1;
    for (const Call* section : found->second) {
      if (ended) judge_end(*section, *ended);
      for (const Node& node : queue.nodes) judge_waiter(*section, grant, node);
      for (const Node& node : grant.left) judge_waiter(*section, grant, node);
    }
    sections_.erase(found);
  }

  void judge_end(const Call& section, std::int64_t ended) {
    const Instant by = applied_by_(ended);
    if (by >= section.invoked) return;
    const Process& process = history_.process_of(section);
    const Interval blind = forced_.blind(process, section.monitor, section.token, section.granted);
    if (process.lingers && blind.begin != never && section.invoked <= blind.end + waking) return;
    findings_.violated(text_of(history_, section) + " was asked for at " + text_of(history_, section.invoked) +
                       ", when that grant had ended, at zxid " + std::to_string(ended) + ", by " +
                       text_of(history_, by));
  }

  void judge_waiter(const Call& section, const Grant& grant, const Node& node) {
    if (node.guid == grant.guid || node.there_until < section.invoked) return;
    const bool own = node.session == grant.session;
    // One of its own that has given up does not wait, although its node may still be there.
    const auto later = last_token_of_.find(node.guid);
    if (own && (node.guid == 0 || later == last_token_of_.end() || later->second <= grant.token)) return;
    const Instant waits = applied_by_(std::max(node.created, grant.token));
    const Span timeout = history_.process_of(section).session_timeout;
    if (waits == never || (!own && timeout == Span{0})) return;
    if (waits + (own ? Span{0} : timeout * 2 / 3) >= section.invoked) return;
    findings_.violated(text_of(history_, section) + " was asked for at " + text_of(history_, section.invoked) +
                       " and began under a grant from before, although " + text_of(history_, node.place) +
                       " was in the queue, since zxid " + std::to_string(node.created) + ", by " +
                       text_of(history_, waits));
  }

  const History& history_;
  const ForcedEnds forced_;
  std::vector<Queue> queues_;                                                            // by monitor
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<const Call*>> sections_;  // by monitor and token
  std::unordered_map<std::uint64_t, std::int64_t> last_token_of_;                        // by guid
  std::map<Name, Instant> without_token_;  // when clients that know no token were told of their grants
  AppliedBy applied_by_;
  NotAppliedBefore not_applied_before_;
  Findings findings_;
};

}  // namespace

Findings taken_again(const History& history) {
  return TakenReplay(history).run();
}

}  // namespace forelock::robustness
