// UnusedMonitors selects monitors' nodes for removal, and the time of it (docs/protocol.md, "Monitors that leave
// nothing behind").
//
// A monitor is checked when it has lingered; if it was used meanwhile it lingers anew, so that its use costs nothing
// here. Due ones go in one request; if that is refused, the rest goes in a second one, and then one by one: the server
// keeps all if it has to keep one.
//
// Only marked nodes are removed. After an outage the mark is uncertain: then the node is read first.
//
// Pure: it knows neither the monitors nor the session. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "coordination/reply.h"
#include "lock/engine_types.h"

namespace forelock::lock {

// Whether a Forelock process has created this monitor's node, with its data unchanged since: a forced release of a lock
// sets its data.
bool carries_mark(const coordination::Reply& node);

class UnusedMonitors {
 public:
  // Whether the mark was seen in this connection.
  enum class Mark { seen, doubtful };

  // Zero: nothing is ever removed.
  explicit UnusedMonitors(Duration linger);

  bool enabled() const { return linger_ > Duration(); }

  // To be looked at when it has lingered. Not to be called again for a monitor before lingered() has named it.
  void let_linger(std::uint64_t ordinal, TimePoint now);
  // It lingers, but nothing else is remembered of it: to be removed when it has lingered.
  void forget(std::uint64_t ordinal, const std::string& monitor, Mark mark);
  // Those that have lingered and are remembered: none before some more may have, so that requests are few.
  std::vector<std::uint64_t> lingered(TimePoint now);
  // Its node is to be removed with the next request, or looked at before.
  void remove(const std::string& monitor, Mark mark = Mark::seen);

  // Those that may be looked at now: a request for each. Those that `wanted` denies are left out.
  std::vector<std::string> take_doubtful(TimePoint now, const std::function<bool(const std::string&)>& wanted);
  // It was removed, or is not what it was: what is still to be done about it is done only after a look.
  void doubt(const std::string& monitor);
  // The answer to one of them, after which remove() is called if it carries the mark; or it was lost.
  void looked(const std::string& monitor) { looked_at_.erase(monitor); }
  void look_lost(const std::string& monitor, TimePoint now);

  // The monitors of the request that may be sent now; none if there is nothing to send. Those that `wanted` denies are
  // left out.
  std::vector<std::string> take(TimePoint now, const std::function<bool(const std::string&)>& wanted);
  // The answer to that request: all are gone. \returns which.
  std::vector<std::string> removed();
  // Or one of them could not be removed, this one if that is known, and so none was. \returns those that are to be
  // asked for one by one.
  std::vector<std::string> refused(std::optional<std::size_t> kept);
  // Or it was lost.
  void unknown(TimePoint now);
  // We may not remove anything: nothing more is tried in this session.
  void give_up();
  // What was seen may have changed unnoticed.
  void disconnected();
  void session_ended();
  // Those of a last request, without regard to the time or to others under way: there will be no answer.
  std::vector<std::string> take_last(std::size_t most, const std::function<bool(const std::string&)>& wanted);

  // The next instant at which there is something to do, given a connection; `never` if there is none.
  TimePoint next_timer() const;

 private:
  struct Lingering {
    TimePoint until{};
    std::uint64_t ordinal = 0;
  };

  struct Forgotten {
    std::string monitor;
    Mark mark = Mark::seen;
  };

  bool full() const;
  // When doubtful ones may be looked at: many at once, few after a pause.
  TimePoint next_look() const;
  void look_again();
  void look_at_doubted();
  void settle_doubt(const std::string& monitor);
  void remember_no_more(const std::string& monitor);
  void ask_again();

  const Duration linger_;
  const Duration round_;                                    // between two looks, and between two requests
  std::deque<Lingering> lingering_;                         // in the order of their instants
  std::unordered_map<std::uint64_t, Forgotten> forgotten_;  // those of them that are
  std::unordered_map<std::string, std::uint64_t> forgotten_names_;
  std::deque<std::string> unused_;
  std::deque<std::string> doubtful_;
  std::unordered_set<std::string> known_;    // in one of these
  std::unordered_set<std::string> doubted_;  // since they came into the first one, or while they are under way
  std::vector<std::string> under_way_;
  std::unordered_set<std::string> looked_at_;  // under way, too
  bool second_try_ = false;                    // what is under way is the rest of a request that was refused
  bool gave_up_ = false;
  TimePoint not_before_{};  // unless a request would be full
  TimePoint paused_until_{};
  TimePoint look_not_before_{};
};

}  // namespace forelock::lock
