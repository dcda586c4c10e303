// A Picture is the namespace as it was at one moment, with what follows from it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/monitors/paces.h"
#include "cli/serve/blocking.h"
#include "cli/serve/lock_orders.h"
#include "cli/serve/look/request_times.h"
#include "cli/serve/look/sighting.h"
#include "forelock/inspector.h"

namespace forelock::cli {

// A row that is not of the present: what may have changed has not been read since.
struct StaleRow {
  std::string monitor;
  std::chrono::steady_clock::time_point known;  // until when it was so
};

// Why the credentials may not read monitors, by id.
using Unreadable = std::map<std::string, std::string>;

// Of the whole time.
struct LookCounts {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> events{0};
  // Of those that go alone, and not in batches: what the leader has decided, and the list of all monitors.
  RequestTimes syncs;
  RequestTimes lists;
};

// How the namespace is looked at.
struct LookState {
  std::size_t watched = 0;  // nodes that cost nothing until they change
  std::size_t sampled = 0;  // nodes that are read again and again
  std::vector<StaleRow> stale = {};
};

// Never changes once it is made.
class Picture {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  struct Parts {
    std::shared_ptr<const Sightings> sightings;
    // Ids of those that are not as in the picture before, or have gone since; nothing if that is not known.
    std::optional<std::set<std::string>> changed = {};
    std::uint64_t number = 0;  // of the picture before and one
    std::shared_ptr<const Unreadable> unreadable = nullptr;
    Steady begun{};  // all that was done before is in it, but for what is stale
    WallTime wall{};
    std::chrono::milliseconds fresh_for{0};
    Paces::ByMonitor paces = {};
    std::shared_ptr<const std::vector<OrderWarning>> warnings = nullptr;
    LookState look = {};
  };
  explicit Picture(Parts parts) : parts_(std::move(parts)) {}
  // `monitors` in the order of their ids, the idle ones too. `begun`: before the first of the reads; `wall` the same.
  // `fresh_for`: how long it may be shown as the present. `paces`: of their queues. `warnings`: of the orders in which
  // locks have been nested so far.
  Picture(std::vector<MonitorView> monitors, Steady begun, WallTime wall, std::chrono::milliseconds fresh_for,
          Paces::ByMonitor paces = {}, std::vector<OrderWarning> warnings = {});

  // In the order of their ids, the idle ones too.
  const Sightings& monitors() const { return *parts_.sightings; }
  // Null if there is none.
  const Sighting* find(const std::string& monitor) const;
  // What has changed since `before`; nothing if that is not known.
  const std::set<std::string>* changed_since(std::uint64_t before) const;
  std::uint64_t number() const { return parts_.number; }
  // Made when it is asked for first. For one thread: the server's.
  const Blocking& blocking() const;
  // Those that are not among the monitors, because they may not be read.
  const Unreadable& unreadable() const;
  // Null if it may be read, or is not there.
  const std::string* why_unreadable(const std::string& monitor) const;
  Steady begun() const { return parts_.begun; }
  WallTime wall() const { return parts_.wall; }
  std::chrono::milliseconds fresh_for() const { return parts_.fresh_for; }
  const LookState& look() const { return parts_.look; }
  bool overdue(const Sighting& monitor) const;

  // The same JSON as that of `ls` and `show`, without sessions, which are as good as their passwords; a holder has
  // "overdue" besides, a waiter "expected_wait_ms" where enough is known, and what is stale "live": false and its
  // "age_ms".
  nlohmann::ordered_json row(const Sighting& monitor) const;
  // Also of one that is not there any more, or may not be read: that has "unreadable", which says why.
  nlohmann::ordered_json row(const std::string& monitor) const;
  // A view has the first `most` of its queue, and "left_out", how many others wait.
  nlohmann::ordered_json view(const Sighting& monitor, bool with_sessions = false, std::size_t most = 1000) const;
  // The text of {"monitors","left_out"} without its outer braces: those that are held or waited for and that have all
  // `words` in their id, holder or class; if there are more than `most`, those that are waited for, and the oldest.
  std::string rows_text(std::size_t most, const std::vector<std::string>& words = {}) const;
  // {"worst","rings","trees"}.
  nlohmann::ordered_json chains() const;
  const std::vector<OrderWarning>& warnings() const;
  // {"warnings"}.
  nlohmann::ordered_json orders() const;
  // {"mode","watched","sampled","stale"}.
  nlohmann::ordered_json look_json() const;

 private:
  void date(nlohmann::ordered_json& json, const std::string& monitor) const;
  // {"holds","waits","left_out"}: the other monitors of the holder's process, which is one session.
  nlohmann::ordered_json same_process(const MonitorView& monitor) const;

  Parts parts_;
  // What a session holds and waits for.
  struct Locks {
    std::vector<const std::string*> holds;
    std::vector<const std::string*> waits;
  };

  mutable std::optional<Blocking> blocking_;
  mutable std::unordered_map<std::int64_t, Locks> by_session_;  // made with the first question
};

}  // namespace forelock::cli
